-- CASCADE takes along the functions of migrations/current that are made of this table.
drop table switchyard.waiting cascade;
