-- Tables that hold rows of their own.
select name from sqlite_schema where type = 'table' and name not like 'sqlite\_%' escape '\' order by name;
