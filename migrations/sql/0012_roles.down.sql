do $$
begin
  execute 'revoke switchyard_worker from switchyard_admin';
  execute 'revoke switchyard_reader, switchyard_submitter from switchyard_worker';
exception when insufficient_privilege or undefined_object then
  raise notice 'left the roles as they are: %', sqlerrm;
end
$$;
revoke all on all tables in schema switchyard from switchyard_admin, switchyard_worker, switchyard_submitter, switchyard_reader;
revoke all on all sequences in schema switchyard from switchyard_admin, switchyard_worker, switchyard_submitter, switchyard_reader;
revoke all on all functions in schema switchyard from switchyard_admin, switchyard_worker, switchyard_submitter, switchyard_reader;
revoke usage on schema switchyard from switchyard_admin, switchyard_worker, switchyard_submitter, switchyard_reader;
grant execute on all functions in schema switchyard to public;
