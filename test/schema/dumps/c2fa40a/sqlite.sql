CREATE TABLE infergate_account (
    id TEXT PRIMARY KEY,
    -- Of the journal's newest entry.
    sequence INTEGER NOT NULL,
    -- No hold expires earlier.
    next_expiry INTEGER,
    session_start INTEGER,
    session_end INTEGER,
    session_used INTEGER NOT NULL,
    session_held INTEGER NOT NULL,
    session_bonus INTEGER NOT NULL,
    week_start INTEGER,
    week_end INTEGER,
    week_used INTEGER NOT NULL,
    week_held INTEGER NOT NULL,
    week_bonus INTEGER NOT NULL,
    month_start INTEGER,
    month_end INTEGER,
    month_used INTEGER NOT NULL,
    month_held INTEGER NOT NULL,
    month_bonus INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_account VALUES ('reset', 4, 1795493762517, 1795492862517, 1795510862517, 5, 0, 0, 1795392000000, 1795996800000, 5, 0, 0, 1793491200000, 1796083200000, 15, 0, 0);
INSERT INTO infergate_account VALUES ('windowed', 4, 1795492863516, 1795492861413, 1795510861413, 310, 290, 0, 1795392000000, 1795996800000, 310, 290, 70, 1793491200000, 1796083200000, 310, 290, 0);
CREATE TABLE infergate_entry (
    id TEXT NOT NULL,
    -- 0: the reservation; -1: a grant; from 1 on: whatever else is filed under the id.
    part INTEGER NOT NULL,
    account TEXT NOT NULL,
    -- An entry's, or 'hold', or 'expired'.
    kind TEXT NOT NULL,
    -- Of the entry or the expiry; NULL while it is a hold.
    at INTEGER,
    -- NULL for what is not in the journal.
    sequence INTEGER,
    -- The entry's, or what is held.
    amount INTEGER NOT NULL,
    session_start INTEGER,
    week_start INTEGER,
    month_start INTEGER,
    -- A JSON object; NULL where there are none.
    tags TEXT,
    -- The rest is a reservation's only: its lease, what it was renewed to, and the cost seen.
    session_end INTEGER,
    week_end INTEGER,
    month_end INTEGER,
    reserved INTEGER,
    lease_expires_at INTEGER,
    expires_at INTEGER,
    checkpoint INTEGER,
    PRIMARY KEY (id, part)
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_entry VALUES ('after reset', 0, 'reset', 'charge', 1795492862522, 4, 5, 1795492862517, 1795392000000, 1793491200000, NULL, 1795510862517, 1795996800000, 1796083200000, 6, 1795493762517, 1795493762517, 0);
INSERT INTO infergate_entry VALUES ('before reset', 0, 'reset', 'charge', 1795492862517, 1, 10, 1795492862517, 1795392000000, 1793491200000, NULL, 1795510862517, 1795996800000, 1796083200000, 10, 1795493762517, 1795493762517, 0);
INSERT INTO infergate_entry VALUES ('due', 0, 'windowed', 'hold', NULL, NULL, 90, 1795492861413, 1795392000000, 1793491200000, NULL, 1795510861413, 1795996800000, 1796083200000, 90, 1795492863516, 1795492863517, 35);
INSERT INTO infergate_entry VALUES ('ended', 0, 'windowed', 'charge', 1795492861413, 1, 250, 1795492861413, 1795392000000, 1793491200000, '{"keyId":"key_1","model":"acme/small","input":30,"output":12,"tag.team":"red"}', 1795510861413, 1795996800000, 1796083200000, 300, 1795493761413, 1795493761413, 0);
INSERT INTO infergate_entry VALUES ('expired', 0, 'windowed', 'expired', 1795492862516, NULL, 100, 1795492861413, 1795392000000, 1793491200000, NULL, 1795510861413, 1795996800000, 1796083200000, 100, 1795492862414, 1795492862414, 60);
INSERT INTO infergate_entry VALUES ('expired', 1, 'windowed', 'checkpoint', 1795492862516, 3, 60, 1795492861413, 1795392000000, 1793491200000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_entry VALUES ('grant', -1, 'windowed', 'grant', 1795492862516, 4, 70, NULL, 1795392000000, NULL, '{"note":"sorry"}', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_entry VALUES ('open', 0, 'windowed', 'hold', NULL, NULL, 200, 1795492861413, 1795392000000, 1793491200000, NULL, 1795510861413, 1795996800000, 1796083200000, 200, 1795493761414, 1795493761414, 120);
INSERT INTO infergate_entry VALUES ('released', 0, 'windowed', 'release', 1795492861414, 2, 0, 1795492861413, 1795392000000, 1793491200000, NULL, 1795510861413, 1795996800000, 1796083200000, 40, 1795493761413, 1795493761413, 0);
INSERT INTO infergate_entry VALUES ('reset_44cdaeb8-821d-48a3-b9a6-ee46faf44a8a', 1, 'reset', 'reset', 1795492862517, 3, -10, NULL, 1795392000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_entry VALUES ('reset_7511bf1d-551a-4c69-8ac4-e177ad030b7e', 1, 'reset', 'reset', 1795492862517, 2, -10, 1795492862517, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE infergate_key (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    account TEXT NOT NULL,
    plan TEXT NOT NULL,
    name TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    models TEXT,
    anchor INTEGER
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_key VALUES ('key_few', '3e5b53295ea2b40237b9a345d2fb060ca0590ff1c51de7fc8b819f2a4409e6c6', 'sk-…few', 'owner', 'pro', NULL, 1773221400000, NULL, NULL, NULL, NULL);
INSERT INTO infergate_key VALUES ('key_full', '0cc410f6c1a138cac0064dd543ff2539e1e5a15ecf9da2b93b9dfa6a42a435e3', 'sk-…full', 'owner', 'pro', 'Ann''s "first" key; größer 😀', 1773221400001, 4102444800000, 4102444700000, '["acme/*","o''neill/100%"]', -29253600000);
CREATE TABLE infergate_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
INSERT INTO infergate_meta VALUES ('version', 1);
CREATE TABLE infergate_plan (
    id TEXT PRIMARY KEY,
    plan TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_plan VALUES ('pro', '{"models":["acme/*"],"credits":{"session":100,"week":null,"month":1500},"sessionMs":3600000}');
CREATE INDEX infergate_entry_account ON infergate_entry (account, at, sequence);
CREATE INDEX infergate_key_account ON infergate_key (account, created_at);
