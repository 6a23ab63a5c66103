drop function switchyard.callbacks_made(uuid, integer);
drop function switchyard.dismiss(bigint, text, text);
drop function switchyard.resume(text, text, text);
drop function switchyard.pause(text, text, text);
drop function switchyard.cancel(uuid, text, text);
drop function switchyard.retrigger(uuid, text, text);
drop function switchyard.locked_thread(uuid);
drop function switchyard.named(text, text);
drop table switchyard.paused;
