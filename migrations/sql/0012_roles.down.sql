-- Who is a member of which role holds for the whole server, and other databases on it live by that: it stays.
revoke all on public.migration from switchyard_reader;
revoke all on all tables in schema switchyard from switchyard_admin, switchyard_worker, switchyard_submitter, switchyard_reader;
revoke all on all sequences in schema switchyard from switchyard_admin, switchyard_worker, switchyard_submitter, switchyard_reader;
revoke all on all functions in schema switchyard from switchyard_admin, switchyard_worker, switchyard_submitter, switchyard_reader;
revoke usage on schema switchyard from switchyard_admin, switchyard_worker, switchyard_submitter, switchyard_reader;
grant execute on all functions in schema switchyard to public;
