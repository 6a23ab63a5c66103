-- CASCADE takes along the views and functions of migrations/current that are made of these tables.
drop table switchyard.schedule_tick cascade;
drop table switchyard.schedule cascade;
