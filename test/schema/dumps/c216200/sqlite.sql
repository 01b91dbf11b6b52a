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
INSERT INTO infergate_account VALUES ('reset', 4, 1795493224910, 1795492324910, 1795510324910, 5, 0, 0, 1795392000000, 1795996800000, 5, 0, 0, 1793491200000, 1796083200000, 15, 0, 0);
INSERT INTO infergate_account VALUES ('windowed', 4, 1795492325909, 1795492323807, 1795510323807, 310, 290, 0, 1795392000000, 1795996800000, 310, 290, 70, 1793491200000, 1796083200000, 310, 290, 0);
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
INSERT INTO infergate_entry VALUES ('after reset', 0, 'reset', 'charge', 1795492324910, 4, 5, 1795492324910, 1795392000000, 1793491200000, NULL, 1795510324910, 1795996800000, 1796083200000, 6, 1795493224910, 1795493224910, 0);
INSERT INTO infergate_entry VALUES ('before reset', 0, 'reset', 'charge', 1795492324910, 1, 10, 1795492324910, 1795392000000, 1793491200000, NULL, 1795510324910, 1795996800000, 1796083200000, 10, 1795493224910, 1795493224910, 0);
INSERT INTO infergate_entry VALUES ('due', 0, 'windowed', 'hold', NULL, NULL, 90, 1795492323807, 1795392000000, 1793491200000, NULL, 1795510323807, 1795996800000, 1796083200000, 90, 1795492325909, 1795492325910, 35);
INSERT INTO infergate_entry VALUES ('ended', 0, 'windowed', 'charge', 1795492323807, 1, 250, 1795492323807, 1795392000000, 1793491200000, '{"keyId":"key_1","model":"acme/small","input":30,"output":12,"tag.team":"red"}', 1795510323807, 1795996800000, 1796083200000, 300, 1795493223807, 1795493223807, 0);
INSERT INTO infergate_entry VALUES ('expired', 0, 'windowed', 'expired', 1795492324909, NULL, 100, 1795492323807, 1795392000000, 1793491200000, NULL, 1795510323807, 1795996800000, 1796083200000, 100, 1795492324808, 1795492324808, 60);
INSERT INTO infergate_entry VALUES ('expired', 1, 'windowed', 'checkpoint', 1795492324909, 3, 60, 1795492323807, 1795392000000, 1793491200000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_entry VALUES ('grant', -1, 'windowed', 'grant', 1795492324909, 4, 70, NULL, 1795392000000, NULL, '{"note":"sorry"}', NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_entry VALUES ('open', 0, 'windowed', 'hold', NULL, NULL, 200, 1795492323807, 1795392000000, 1793491200000, NULL, 1795510323807, 1795996800000, 1796083200000, 200, 1795493223808, 1795493223808, 120);
INSERT INTO infergate_entry VALUES ('released', 0, 'windowed', 'release', 1795492323808, 2, 0, 1795492323807, 1795392000000, 1793491200000, NULL, 1795510323807, 1795996800000, 1796083200000, 40, 1795493223807, 1795493223807, 0);
INSERT INTO infergate_entry VALUES ('reset_406d0816-9af6-4b0b-8cfa-ff67456c30e0', 1, 'reset', 'reset', 1795492324910, 2, -10, 1795492324910, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_entry VALUES ('reset_9ffbdd9d-abf9-4515-b650-7eabd252e95b', 1, 'reset', 'reset', 1795492324910, 3, -10, NULL, 1795392000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
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
INSERT INTO infergate_meta VALUES ('forgotten DfNlyhdmlYSqifPKpLIlvcNg6tAMROZ3nfAe4qaLd3k', 1795492324910);
INSERT INTO infergate_meta VALUES ('version', 2);
CREATE TABLE infergate_plan (
    id TEXT PRIMARY KEY,
    plan TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_plan VALUES ('pro', '{"models":["acme/*"],"credits":{"session":100,"week":null,"month":1500},"sessionMs":3600000}');
CREATE TABLE infergate_response (
    sequence INTEGER PRIMARY KEY,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    put_at INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    previous_id TEXT,
    bytes INTEGER NOT NULL,
    -- The text last: what stands before it is read without it.
    response TEXT NOT NULL
  ) STRICT;
INSERT INTO infergate_response VALUES (1, 'owner', 'resp_1', 1795492324911, 1773221400000, NULL, 877, '{"id":"resp_1","object":"response"}');
INSERT INTO infergate_response VALUES (2, 'owner', 'resp_2', 1795492324911, 1773221400000, 'resp_1', 877, '{"id":"resp_2","object":"response"}');
CREATE TABLE infergate_response_account (
    id TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_response_account VALUES ('owner', 1754);
CREATE TABLE infergate_response_item (
    -- Its sequence.
    response INTEGER NOT NULL,
    position INTEGER NOT NULL,
    is_output INTEGER NOT NULL,
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    item TEXT NOT NULL
  ) STRICT;
INSERT INTO infergate_response_item VALUES (1, 0, 0, 'owner', 'resp_1_in', '{"id":"resp_1_in","text":"größer"}');
INSERT INTO infergate_response_item VALUES (1, 1, 1, 'owner', 'resp_1_out', '{"id":"resp_1_out"}');
INSERT INTO infergate_response_item VALUES (2, 0, 0, 'owner', 'resp_2_in', '{"id":"resp_2_in","text":"größer"}');
INSERT INTO infergate_response_item VALUES (2, 1, 1, 'owner', 'resp_2_out', '{"id":"resp_2_out"}');
CREATE INDEX infergate_entry_account ON infergate_entry (account, at, sequence);
CREATE INDEX infergate_key_account ON infergate_key (account, created_at);
CREATE INDEX infergate_response_account_sequence ON infergate_response (account, sequence);
CREATE UNIQUE INDEX infergate_response_id ON infergate_response (account, id);
CREATE INDEX infergate_response_item_id ON infergate_response_item (account, id, response, position);
CREATE UNIQUE INDEX infergate_response_item_position ON infergate_response_item (response, position);
CREATE INDEX infergate_response_put_at ON infergate_response (put_at);
