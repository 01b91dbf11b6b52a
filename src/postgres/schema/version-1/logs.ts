/** The log of requests with what is counted of it, and the audit of what the host's code changes by the management API. */
export const logTables = /* sql */ `
create table infergate.request (
  sequence bigint generated always as identity primary key,
  at bigint not null,
  line_id text collate "C" not null,
  request_id text not null,
  account text,
  key_id text,
  is_error boolean not null,
  tags jsonb,
  -- JSON.
  line text not null,
  texts text,
  unique (at, line_id)
);
create index request_id on infergate.request (request_id, at, line_id);
create index request_account on infergate.request (account, at, line_id) where account is not null;
create index request_key on infergate.request (key_id, at, line_id) where key_id is not null;
create index request_error on infergate.request (at, line_id) where is_error;

create table infergate.request_tag (
  account text not null,
  name text not null,
  value text not null,
  at bigint not null,
  line_id text collate "C" not null,
  primary key (account, name, value, at, line_id)
);

-- Refusals and failures of a minute, one row for each batch.
create table infergate.request_count (
  sequence bigint generated always as identity primary key,
  minute bigint not null,
  account text,
  plan text,
  model text,
  target text,
  key_id text,
  tags jsonb,
  refusals bigint not null,
  failures bigint not null
);
create index request_count_minute on infergate.request_count (minute);
create index request_count_account on infergate.request_count (account) where account is not null;

create table infergate.audit_entry (
  sequence bigint generated always as identity primary key,
  place text collate "C" not null unique,
  at bigint not null,
  account text,
  -- Another account that the entry is found by.
  moved_to text,
  key text,
  action text not null,
  author text,
  -- JSON.
  entry text not null
);
create index audit_entry_account on infergate.audit_entry (account, place) where account is not null;
create index audit_entry_moved on infergate.audit_entry (moved_to, place) where moved_to is not null;
create index audit_entry_key on infergate.audit_entry (key, place) where key is not null;
create index audit_entry_action on infergate.audit_entry (action, place);
create index audit_entry_author on infergate.audit_entry (author, place) where author is not null;
`;
