-- CASCADE takes along the views and functions of migrations/current that are made of these tables.
drop table switchyard.lane cascade;
drop table switchyard.flow_session cascade;
drop sequence switchyard.flow_session_id;
drop table switchyard.flow_state cascade;
drop table switchyard.flow cascade;
