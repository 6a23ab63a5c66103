-- backend: the process that serves us now
select pg_backend_pid();
