-- A layer or a plain table; the key is fid.
create table <table> (fid integer primary key autoincrement, <declared>);
