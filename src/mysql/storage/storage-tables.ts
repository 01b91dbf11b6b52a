/** When a hold is due that has expired: never. No hold is due so late. */
export const neverDue = Number.MAX_SAFE_INTEGER;

/**
 * What a {@link LedgerStorage} keeps in MySQL. Texts are opaque, and no rule stands in here. Names and ids are bytes: no
 * collation takes two for one, and none ignores spaces at the end.
 */
export const storageTables = (prefix: string): readonly string[] => [
  /* sql */ `
create table if not exists ${prefix}ledger_record (
  -- Of a hold it is empty, since the names of holds are all accounts': else it is the account.
  scope varbinary(512) not null,
  name varbinary(1040) not null,
  -- Of a hold, so that an index of them has no others.
  account varbinary(512),
  -- Of a core: the account's.
  version varbinary(64),
  stamp varbinary(64) not null,
  content mediumblob not null,
  -- A list, in JSON.
  counters blob not null,
  -- Of a hold. One that has expired comes last.
  due bigint,
  primary key (scope, name),
  key due (account, due)
) engine = InnoDB row_format = dynamic`,
  /* sql */ `
create table if not exists ${prefix}ledger_entry (
  account varbinary(512) not null,
  at bigint not null,
  sequence bigint not null auto_increment,
  -- Null: nobody asks for it again.
  entry_key varbinary(1040),
  kind varbinary(32) not null,
  id varbinary(1040) not null,
  amount bigint not null,
  prepaid bigint not null,
  starts blob not null,
  tags mediumblob,
  expires_at bigint,
  receipt blob,
  primary key (account, at, sequence),
  key sequence (sequence),
  unique key entry_key (entry_key)
) engine = InnoDB row_format = dynamic`,
  /* sql */ `
create table if not exists ${prefix}ledger_forgotten (
  account varbinary(512) primary key,
  at bigint not null
) engine = InnoDB row_format = dynamic`,
];
