drop function switchyard.ring(text[], uuid);
drop function switchyard.bell_channel(text);
drop function switchyard.bell_key(text);
