drop trigger event_rolls_up on switchyard.event;
drop function switchyard.event_rolls_up();
drop function switchyard.judge(uuid, switchyard.status, integer, integer, switchyard.status, integer, integer, boolean);
drop trigger action_makes_thread on switchyard.action;
drop function switchyard.action_makes_thread();
drop function switchyard.content_of(switchyard.action);
