/** What the host's code has changed by the management API. */
export const version11Audit = /* sql */ `
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
