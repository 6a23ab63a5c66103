-- Reuse: of the actions that ask for the same computation one computes, and the others get its result.
create table switchyard.reuse (
  action_uuid uuid primary key,
  workflow text not null,
  version text not null,
  key jsonb not null,
  fresh interval not null,
  not_before timestamptz not null default '-infinity',
  role text not null default 'seeks',
  constraint reuse_role_is_known check (role in ('seeks', 'follows', 'leads', 'result')),
  -- By the hash of the key, then by the key itself; so a key may be of any size, and two with one hash are two.
  constraint reuse_key_has_one_leader exclude using hash (key with =) where (role in ('leads', 'result'))
) with (fillfactor = 80, autovacuum_vacuum_scale_factor = 0.05, autovacuum_vacuum_threshold = 5000);
comment on table switchyard.reuse is 'Who computes what, who waits for it, and which results may be reused; written by the triggers, settle_reuse and forget_results.';
comment on column switchyard.reuse.key is 'Workflow, version, lane, what the paths of the configuration find in the parameters, and where the inputs of others come from.';
comment on column switchyard.reuse.fresh is 'How old a result this action accepts.';
comment on column switchyard.reuse.not_before is 'When it looks for a result.';
comment on column switchyard.reuse.role is 'It has not looked yet, it waits for another, it computes, or it has a result that others may have.';
create index reuse_seeks on switchyard.reuse (not_before) where role = 'seeks';
create index reuse_leads on switchyard.reuse (action_uuid) where role = 'leads';
create index reuse_waits on switchyard.reuse (jsonb_hash(key), role, action_uuid) where role in ('seeks', 'follows');
create index reuse_results on switchyard.reuse (workflow, action_uuid) where role in ('leads', 'result');
