-- CASCADE takes along the functions and views of migrations/current that are made of it.
drop table switchyard.reuse cascade;
