-- Sets: actions that end when their members have: graphs (submit_graph) and campaigns.
create table switchyard.sets (
  action_uuid uuid primary key,
  policy text not null default 'successful',
  sealed boolean not null default false,
  settled boolean not null default false,
  watching uuid,
  not_before timestamptz not null default '-infinity',
  constraint sets_policy_is_known check (policy in ('successful', 'ended'))
);
comment on table switchyard.sets is 'The actions that have members (action.member_of): each ends once it is sealed and no member is open.';
comment on column switchyard.sets.policy is 'Whether it is successful only where all members were, or wherever they ended.';
comment on column switchyard.sets.sealed is 'No more members are added.';
comment on column switchyard.sets.settled is 'It has ended, and so have its members: nobody looks at it.';
comment on column switchyard.sets.watching is 'The member whose row in the yard was marked; null before the first look.';
comment on column switchyard.sets.not_before is 'When it is looked at again, after something kept it from being settled.';
create index sets_open on switchyard.sets (action_uuid) where not settled;

-- Each statement adds its own line and nobody updates one, so a million members have no hot row; folded now and then.
create table switchyard.tally (
  set_uuid uuid not null,
  status switchyard.status not null,
  n bigint not null,
  at timestamptz not null default now()
);
comment on table switchyard.tally is 'Members of sets by status: PENDING counts those that were added, the others their ends; a retrigger adds -1.';
create index tally_set on switchyard.tally (set_uuid);

-- What the end of an action tells about others.
create type switchyard.mark as (watched boolean, member_of uuid, status switchyard.status);

-- A campaign is a set whose members are made of the items of a source, a limited number at a time.
create table switchyard.campaign (
  action_uuid uuid primary key,
  name text not null unique,
  action_name text not null,
  workflow text,
  source jsonb not null,
  parameters jsonb not null default '{}',
  in_flight integer not null,
  priority smallint not null,
  lane text,
  cursor jsonb not null default '{}',
  complete boolean not null default false,
  items bigint not null default 0,
  repeated bigint not null default 0,
  rejected bigint not null default 0,
  fruitless integer not null default 0,
  source_error text,
  started_by text not null,
  paused_at timestamptz,
  paused_by text,
  paused_because text,
  not_before timestamptz not null default '-infinity',
  constraint campaign_name_is_a_name check (name <> '' and length(name) <= 200),
  constraint campaign_in_flight_is_a_limit check (in_flight between 1 and 100000),
  constraint campaign_parameters_are_an_object check (jsonb_typeof(parameters) = 'object' and switchyard.is_within_limits(parameters)),
  constraint campaign_cursor_is_within_limits check (switchyard.is_within_limits(cursor)),
  constraint campaign_paused_by_somebody check ((paused_at is null) = (paused_by is null) and (paused_at is null) = (paused_because is null))
);
comment on table switchyard.campaign is 'The campaigns: what each makes of the items of its source, and how far the source has been read.';
comment on column switchyard.campaign.source is 'Where its items come from, for people and for whoever continues to read them.';
comment on column switchyard.campaign.parameters is 'The parameters of every member, beside those of its item.';
comment on column switchyard.campaign.in_flight is 'How many members are open at once.';
comment on column switchyard.campaign.cursor is 'How far the source was read: moves in the transaction that stores the items.';
comment on column switchyard.campaign.complete is 'The source was read to its end.';
comment on column switchyard.campaign.repeated is 'Items with an id that the campaign had already.';
comment on column switchyard.campaign.rejected is 'Items without an id, or that are not objects.';
comment on column switchyard.campaign.not_before is 'When its next items are submitted, after something kept them from being submitted.';
comment on column switchyard.campaign.fruitless is 'Pages in a row that held nothing new.';

-- An item is stored when it is read, so that sources are read at their pace and not at that of the work.
create table switchyard.campaign_item (
  set_uuid uuid not null,
  id text not null,
  place bigint not null,
  parameters jsonb,
  action_uuid uuid,
  primary key (set_uuid, id),
  constraint campaign_item_id_is_short check (id <> '' and length(id) <= 500),
  -- Stored once: as its item, or as its action.
  constraint campaign_item_is_stored_once check ((parameters is null) = (action_uuid is not null)),
  constraint campaign_item_parameters_are_an_object check (jsonb_typeof(parameters) = 'object')
) with (fillfactor = 80);
comment on table switchyard.campaign_item is 'The items of each campaign by their ids: their parameters until they are submitted, their action from then on.';
create index campaign_item_next on switchyard.campaign_item (set_uuid, place) where action_uuid is null;
