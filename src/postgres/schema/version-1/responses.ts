/** Responses that later requests refer to. Whoever changes those of an account holds the lock of its row first. */
export const responseTables = /* sql */ `
create table infergate.response_account (
  id text primary key,
  -- Of all its responses.
  bytes bigint not null
);

create table infergate.response (
  -- Grows, within an account, with the time at which they are put.
  sequence bigint generated always as identity primary key,
  account text not null,
  id text not null,
  put_at bigint not null,
  created_at bigint not null,
  previous_id text,
  bytes bigint not null,
  response text not null,
  unique (account, id)
);
create index response_account_sequence on infergate.response (account, sequence);
create index response_put_at on infergate.response (put_at);

create table infergate.response_item (
  response bigint not null references infergate.response on delete cascade,
  position int not null,
  is_output boolean not null,
  account text not null,
  id text not null,
  item text not null,
  primary key (response, position)
);
create index response_item_id on infergate.response_item (account, id, response, position);
`;
