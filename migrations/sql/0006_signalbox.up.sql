-- What signalbox needs beside the ledger: its tokens, and how the caller of a job wants to see it.
create table switchyard.token (
  name text primary key,
  hash bytea not null unique,
  role text not null,
  created_at timestamptz not null default now(),
  created_by text not null,
  expires_at timestamptz,
  revoked_at timestamptz,
  last_used_at timestamptz,
  constraint token_name_is_a_name check (name ~ '^[A-Za-z0-9._@-]{1,100}$'),
  constraint token_role_is_known check (role in ('reader', 'submitter', 'operator', 'admin')),
  constraint token_hash_is_sha_256 check (octet_length(hash) = 32)
);
comment on table switchyard.token is 'Tokens of the HTTP API. Only a hash is stored; the token itself was printed once.';

create table switchyard.presentation (
  action_uuid uuid primary key,
  outputs jsonb,
  response text,
  hidden_at timestamptz,
  hidden_by text,
  constraint presentation_outputs_is_within_limits check (switchyard.is_within_limits(outputs)),
  constraint presentation_response_is_known check (response in ('raw', 'document'))
);
comment on table switchyard.presentation is 'How the results of a job were asked for, and whether it was dismissed after its end. No row is the default.';

create table switchyard.footprint (
  action_uuid uuid,
  part smallint,
  area box not null,
  primary key (action_uuid, part),
  -- Also keeps out what is not a number.
  constraint footprint_is_on_earth check (area <@ box '((-180,-90),(180,90))')
);
create index footprint_area on switchyard.footprint using gist (area) include (action_uuid);
comment on table switchyard.footprint is 'Where the inputs of jobs are, in degrees; one that crosses the antimeridian has two parts.';
