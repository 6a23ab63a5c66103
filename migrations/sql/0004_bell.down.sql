drop function switchyard.ring(text[]);
drop function switchyard.bell_channel(text);
drop function switchyard.bell_key(text);
