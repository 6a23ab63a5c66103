do $$
declare
  c record;
  empty integer := 0;
begin
  while empty < 3 loop
    select * into c from switchyard.claim('noop', :batch, '{}');
    if cardinality(c.uuids) = 0 then
      empty := empty + 1;
      commit;
      continue;
    end if;
    empty := 0;
    insert into switchyard.event (action_uuid, status, run, attempt, source)
    select u, 'SUCCESSFUL', r, a + 1, 'conductor' from unnest(c.uuids, c.runs, c.attempts) as x (u, r, a);
    commit;
    perform switchyard.unlock(c.lock_ids);
    commit;
  end loop;
end
$$
