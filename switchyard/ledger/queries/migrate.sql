-- lock: one migration at a time; a second one waits and then finds nothing to do
select pg_advisory_xact_lock(1937204080, 1);

-- applied: which functions, views and grants the database has
select definitions from switchyard.applied;

-- apply: remember which it has now
insert into switchyard.applied (definitions) values (%(definitions)s)
on conflict (only_one) do update set definitions = excluded.definitions;
