drop function switchyard.refuse(text, text);
drop function switchyard.uuid_lock(uuid);
drop function switchyard.uuid_time(uuid);
drop function switchyard.uuid_floor(timestamptz);
drop function switchyard.uuid7(timestamptz);
drop type switchyard.status;
drop schema switchyard;
