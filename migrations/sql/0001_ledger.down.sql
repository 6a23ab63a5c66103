-- Everything goes, the functions of migrations/current included. Roles belong to the whole server and stay.
drop schema switchyard cascade;
