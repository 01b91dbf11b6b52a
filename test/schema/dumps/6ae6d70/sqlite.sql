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
INSERT INTO infergate_account VALUES ('prepaid', 3, 1795527685025, NULL, NULL, 0, 0, 0, NULL, NULL, 0, 0, 0, NULL, NULL, 0, 0, 0);
INSERT INTO infergate_account VALUES ('reset', 4, 1795527685023, 1795526785024, 1795544785024, 5, 0, 0, 1795392000000, 1795996800000, 5, 0, 0, 1793491200000, 1796083200000, 15, 0, 0);
INSERT INTO infergate_account VALUES ('windowed', 4, 1795526786023, 1795526783853, 1795544783853, 310, 290, 0, 1795392000000, 1795996800000, 310, 290, 70, 1793491200000, 1796083200000, 310, 290, 0);
CREATE TABLE infergate_account_rates (
    id TEXT PRIMARY KEY,
    -- A JSON object.
    rates TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE TABLE infergate_account_record (
    id TEXT PRIMARY KEY,
    plan TEXT NOT NULL,
    anchor INTEGER,
    status TEXT,
    message TEXT,
    -- A JSON object; NULL where there is none.
    metadata TEXT
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_account_record VALUES ('owner', 'pro', 1773221400000, NULL, NULL, '{"customer":"cus_1''","seats":3}');
INSERT INTO infergate_account_record VALUES ('suspended', 'pro', NULL, 'suspended', 'Pay ''first'';
😀', NULL);
CREATE TABLE infergate_bucket (
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    -- At the moment after it, in parts of a request or token.
    level INTEGER NOT NULL,
    at INTEGER NOT NULL,
    held INTEGER NOT NULL,
    rate_limit INTEGER NOT NULL,
    burst INTEGER NOT NULL,
    PRIMARY KEY (account, id)
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_bucket VALUES ('prepaid', 'key_1/calls', 300000, 1795526785101, 1, 5, 5);
INSERT INTO infergate_bucket VALUES ('prepaid', 'key_1/tokens', 351936000, 1795526785101, 100, 6000, 6000);
CREATE TABLE infergate_cap (
    account TEXT NOT NULL,
    id TEXT NOT NULL,
    starts_at INTEGER NOT NULL,
    ends_at INTEGER NOT NULL,
    used INTEGER NOT NULL,
    held INTEGER NOT NULL,
    PRIMARY KEY (account, id)
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_cap VALUES ('prepaid', 'key_1/month', 1793491200000, 1796083200000, 280, 200);
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
    checkpoint INTEGER, held_limits TEXT, limits TEXT, paid INTEGER, prepaid INTEGER,
    PRIMARY KEY (id, part)
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_entry VALUES ('after reset', 0, 'reset', 'charge', 1795526785024, 4, 5, 1795526785024, 1795392000000, 1793491200000, NULL, 1795544785024, 1795996800000, 1796083200000, 6, 1795527685024, 1795527685024, 0, NULL, NULL, 0, 0);
INSERT INTO infergate_entry VALUES ('before reset', 0, 'reset', 'charge', 1795526785024, 1, 10, 1795526785023, 1795392000000, 1793491200000, NULL, 1795544785023, 1795996800000, 1796083200000, 10, 1795527685023, 1795527685023, 0, NULL, NULL, 0, 0);
INSERT INTO infergate_entry VALUES ('due', 0, 'windowed', 'hold', NULL, NULL, 90, 1795526783853, 1795392000000, 1793491200000, NULL, 1795544783853, 1795996800000, 1796083200000, 90, 1795526786023, 1795526786023, 35, NULL, '[10000,50000,null]', NULL, NULL);
INSERT INTO infergate_entry VALUES ('ended', 0, 'windowed', 'charge', 1795526783855, 1, 250, 1795526783853, 1795392000000, 1793491200000, '{"keyId":"key_1","model":"acme/small","input":30,"output":12,"tag.team":"red"}', 1795544783853, 1795996800000, 1796083200000, 300, 1795527683853, 1795527683853, 0, NULL, NULL, 0, 0);
INSERT INTO infergate_entry VALUES ('expired', 0, 'windowed', 'expired', 1795526785022, NULL, 100, 1795526783853, 1795392000000, 1793491200000, NULL, 1795544783853, 1795996800000, 1796083200000, 100, 1795526784858, 1795526784913, 60, NULL, '[10000,50000,null]', NULL, NULL);
INSERT INTO infergate_entry VALUES ('expired', 1, 'windowed', 'checkpoint', 1795526785022, 3, 60, 1795526783853, 1795392000000, 1793491200000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 0);
INSERT INTO infergate_entry VALUES ('grant', -1, 'windowed', 'grant', 1795526785022, 4, 70, NULL, 1795392000000, NULL, '{"note":"sorry"}', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_entry VALUES ('open', 0, 'windowed', 'hold', NULL, NULL, 200, 1795526783853, 1795392000000, 1793491200000, NULL, 1795544783853, 1795996800000, 1796083200000, 200, 1795527683857, 1795527683857, 120, NULL, '[10000,50000,null]', NULL, NULL);
INSERT INTO infergate_entry VALUES ('paid', 0, 'prepaid', 'charge', 1795526785100, 3, 280, NULL, NULL, NULL, '{"keyId":"key_1","model":"acme/small","input":30,"output":12,"tag.team":"red"}', NULL, NULL, NULL, 300, 1795527685025, 1795527685025, 0, '{"caps":[],"takes":[],"windows":{"starts":{"session":1795526785025,"week":1795392000000,"month":1793491200000},"ends":{"session":1795544785025,"week":1795996800000,"month":1796083200000}}}', NULL, 280, 280);
INSERT INTO infergate_entry VALUES ('paying', 0, 'prepaid', 'hold', NULL, NULL, 200, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 200, 1795527685101, 1795527685101, 50, '{"prepaidAt":1795526785101,"caps":[{"id":"key_1/month","start":1793491200000,"end":1796083200000}],"takes":[{"id":"key_1/tokens","kind":"tokens","taken":100},{"id":"key_1/calls","kind":"concurrent","taken":1}],"uses":[{"id":"key_1/tokens","actual":7}],"windows":{"starts":{"session":1795526785101,"week":1795392000000,"month":1793491200000},"ends":{"session":1795544785101,"week":1795996800000,"month":1796083200000}}}', '[0,0,0]', NULL, NULL);
INSERT INTO infergate_entry VALUES ('payment 1', -2, 'prepaid', 'topup', 1795526785025, 1, 400, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, 1798118783850, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_entry VALUES ('payment 2', -2, 'prepaid', 'topup', 1795526785025, 2, 500, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_entry VALUES ('released', 0, 'windowed', 'release', 1795526783857, 2, 0, 1795526783853, 1795392000000, 1793491200000, NULL, 1795544783853, 1795996800000, 1796083200000, 40, 1795527683857, 1795527683857, 0, NULL, NULL, 0, 0);
INSERT INTO infergate_entry VALUES ('reset_30ca1378-5bb1-46c7-95ef-c49c824d474c', 1, 'reset', 'reset', 1795526785024, 2, -10, 1795526785023, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_entry VALUES ('reset_423b7d09-ca17-4539-ba89-3a6bf64302d7', 1, 'reset', 'reset', 1795526785024, 3, -10, NULL, 1795392000000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
CREATE TABLE "infergate_key" (
    id TEXT PRIMARY KEY,
    hash TEXT NOT NULL UNIQUE,
    hint TEXT NOT NULL,
    account TEXT NOT NULL,
    plan TEXT,
    name TEXT,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    models TEXT,
    anchor INTEGER
  , enabled INTEGER, metadata TEXT, last_used_at INTEGER, credits TEXT, rates TEXT, lineage TEXT) STRICT, WITHOUT ROWID;
INSERT INTO infergate_key VALUES ('key_few', '3e5b53295ea2b40237b9a345d2fb060ca0590ff1c51de7fc8b819f2a4409e6c6', 'sk-…few', 'owner', 'pro', NULL, 1773221400000, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
INSERT INTO infergate_key VALUES ('key_full', '0cc410f6c1a138cac0064dd543ff2539e1e5a15ecf9da2b93b9dfa6a42a435e3', 'sk-…full', 'owner', 'pro', 'Ann''s "first" key; größer 😀', 1773221400001, 4102444800000, 4102444700000, '["acme/*","o''neill/100%"]', -29253600000, 0, '{"team":"search","größer":"''\n"}', NULL, '{"day":5,"total":100}', '{"requestsPerMinute":60}', 'key_0');
CREATE TABLE infergate_meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT;
INSERT INTO infergate_meta VALUES ('forgotten DfNlyhdmlYSqifPKpLIlvcNg6tAMROZ3nfAe4qaLd3k', 1795526785024);
INSERT INTO infergate_meta VALUES ('version', 10);
CREATE TABLE infergate_plan (
    id TEXT PRIMARY KEY,
    plan TEXT NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_plan VALUES ('pro', '{"models":["acme/*"],"credits":{"session":100,"week":null,"month":1500},"sessionMs":3600000}');
CREATE TABLE infergate_prepaid (
    account TEXT PRIMARY KEY,
    -- A JSON array, the first to expire first.
    lots TEXT NOT NULL,
    held INTEGER NOT NULL,
    overdrawn INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
INSERT INTO infergate_prepaid VALUES ('prepaid', '[{"expiresAt":1798118783850,"left":120},{"expiresAt":9007199254740991,"left":500}]', 200, 0);
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
INSERT INTO infergate_response VALUES (1, 'owner', 'resp_1', 1795526785153, 1773221400000, NULL, 877, '{"id":"resp_1","object":"response"}');
INSERT INTO infergate_response VALUES (2, 'owner', 'resp_2', 1795526785153, 1773221400000, 'resp_1', 877, '{"id":"resp_2","object":"response"}');
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
CREATE TABLE infergate_summed (
    account TEXT PRIMARY KEY,
    at INTEGER NOT NULL,
    sequence INTEGER NOT NULL,
    -- The account's newest sequence by then. What is newer, but stands before the place, is not in the sums.
    written INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE TABLE infergate_top_up_claim (
    id TEXT PRIMARY KEY,
    account TEXT NOT NULL,
    -- The latest time that it was given to the account.
    at INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
CREATE TABLE infergate_usage (
    account TEXT NOT NULL,
    -- Of UTC, from 1970 on.
    day INTEGER NOT NULL,
    -- The host's tags, a JSON object; '' where there are none, '?' where they are not known.
    tags TEXT NOT NULL,
    -- As they stand in the entry's JSON; '' where there is none.
    model TEXT NOT NULL,
    key TEXT NOT NULL,
    funding TEXT NOT NULL,
    requests INTEGER NOT NULL,
    -- Of any type: tokens are whatever number the tags had.
    charged ANY NOT NULL,
    input ANY NOT NULL,
    cached_input ANY NOT NULL,
    cache_write ANY NOT NULL,
    output ANY NOT NULL,
    reasoning ANY NOT NULL,
    PRIMARY KEY (account, day, tags, model, key, funding)
  ) STRICT, WITHOUT ROWID;
CREATE TABLE infergate_usage_hour (
    account TEXT NOT NULL,
    -- Of UTC, from 1970 on.
    hour INTEGER NOT NULL,
    -- The host's tags, a JSON object; '' where there are none, '?' where they are not known.
    tags TEXT NOT NULL,
    -- As they stand in the entry's JSON; '' where there is none.
    model TEXT NOT NULL,
    key TEXT NOT NULL,
    funding TEXT NOT NULL,
    requests INTEGER NOT NULL,
    -- Of any type: tokens are whatever number the tags had.
    charged ANY NOT NULL,
    input ANY NOT NULL,
    cached_input ANY NOT NULL,
    cache_write ANY NOT NULL,
    output ANY NOT NULL,
    reasoning ANY NOT NULL,
    PRIMARY KEY (account, hour, tags, model, key, funding)
  ) STRICT, WITHOUT ROWID;
CREATE TRIGGER infergate_account_rates_forgotten AFTER DELETE ON infergate_account_record
  BEGIN
    DELETE FROM infergate_account_rates WHERE id = OLD.id;
  END;
CREATE INDEX infergate_entry_account ON infergate_entry (account, at, sequence);
CREATE INDEX infergate_key_account ON infergate_key (account, created_at);
CREATE INDEX infergate_response_account_sequence ON infergate_response (account, sequence);
CREATE UNIQUE INDEX infergate_response_id ON infergate_response (account, id);
CREATE INDEX infergate_response_item_id ON infergate_response_item (account, id, response, position);
CREATE UNIQUE INDEX infergate_response_item_position ON infergate_response_item (response, position);
CREATE INDEX infergate_response_put_at ON infergate_response (put_at);
CREATE INDEX infergate_top_up_claim_at ON infergate_top_up_claim (at);
CREATE TRIGGER infergate_usage_forgotten AFTER DELETE ON infergate_account
  BEGIN
    DELETE FROM infergate_usage WHERE account = OLD.id;
    DELETE FROM infergate_usage_hour WHERE account = OLD.id;
    DELETE FROM infergate_summed WHERE account = OLD.id;
  END;
CREATE INDEX infergate_usage_hour_unknown ON infergate_usage_hour (account, hour) WHERE tags = '?';
CREATE INDEX infergate_usage_unknown ON infergate_usage (account, day) WHERE tags = '?';
