-- CASCADE takes along the views and functions of migrations/current that are made of these tables.
drop table switchyard.footprint cascade;
drop table switchyard.presentation cascade;
drop table switchyard.token cascade;
