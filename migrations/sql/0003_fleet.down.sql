-- CASCADE takes along the views and functions of migrations/current that are made of these tables.
drop table switchyard.bucket cascade;
drop table switchyard.worker cascade;
drop table switchyard.paused cascade;
drop table switchyard.route cascade;
