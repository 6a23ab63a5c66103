drop function switchyard.submit_many(jsonb);
drop function switchyard.submit(text, jsonb, text, integer, text, text, timestamptz, uuid, jsonb);
drop function switchyard.action_name_for(text, text);
drop table switchyard.route;
