import { countsPerSum, sumNames } from "../../ledger/usage/kept-sums.js";

/**
 * A hold that has expired is due at this plus the moment at which it was put: later than any that is open.
 */
export const expiredDue = 2 ** 52;

/** The columns of a sum's numbers. */
export const sumCounts = Array.from({ length: countsPerSum }, (_, index) => `n${index}`);

/**
 * What a ledger's storage keeps in MySQL. Texts are opaque, and no rule stands in here. Names and ids are bytes: no collation
 * takes two for one, and none ignores spaces at the end.
 */
export const mysqlLedgerTables: readonly string[] = [
  /* sql */ `ledger_record (
  -- The account. Of a hold it is empty, since the names of holds are all accounts'.
  scope varbinary(512) not null,
  name varbinary(1040) not null,
  -- Of a core: the account's.
  version varbinary(64),
  stamp varbinary(64) not null,
  content mediumblob not null,
  -- A list, in JSON.
  counters blob not null,
  -- Of a hold, so that an index of holds has nothing else.
  account varbinary(512),
  due bigint,
  primary key (scope, name),
  key due (account, due)
)`,
  /* sql */ `ledger_entry (
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
  key at (at, sequence),
  key id (id),
  unique key entry_key (entry_key)
)`,
  /* sql */ `ledger_sum (
  length_ms int not null,
  begins bigint not null,
  digest varbinary(32) not null,
  ${sumNames.map((name) => `of_${name} ${name === "account" ? "varbinary(512)" : "blob"} not null`).join(", ")},
  ${sumCounts.map((name) => `${name} double not null`).join(", ")},
  primary key (of_account, length_ms, begins, digest),
  key begins (length_ms, begins)
)`,
  /* sql */ `ledger_gone (
  -- Of an account that was forgotten then. Empty: of the journal, whose earlier entries are gone.
  digest varbinary(32) primary key,
  at bigint not null
)`,
];
