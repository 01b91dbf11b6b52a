import type { Mutation } from "../../meta/mutation/mutation.js";
import { bookMutations } from "./book-mutations.js";
import { isolateMutations } from "./isolate-mutations.js";
import { fundingMutations } from "./limits/funding-mutations.js";
import { limitMutations } from "./limits/limit-mutations.js";
import { recordMutations } from "./record-mutations.js";
import { responseMutations } from "./response-mutations.js";
import { quarterMutations } from "./usage/quarter-mutations.js";
import { runningMutations } from "./usage/running-mutations.js";
import { sliceMutations } from "./usage/slice-mutations.js";
import { usageMutations } from "./usage/usage-mutations.js";

const failures = "postgres-failures";
const processes = "postgres-processes";
const retention = "postgres-retention";

export const mutations: readonly Mutation[] = [
  ...bookMutations,
  {
    name: "the retention is compiled",
    find: " from set_config('jit', 'off', true)",
    replace: "",
    test: retention,
  },
  // Windows
  {
    name: "a session outlives its end",
    find: "if moment < stored.ends_at then return stored; end if;\n  return infergate.new_instance(moment",
    replace: "if moment <= stored.ends_at then return stored; end if;\n  return infergate.new_instance(moment",
  },
  { name: "bounds may lie ahead", find: "moment < bounds[1] or ", replace: "", test: failures },
  { name: "bounds may lie behind", find: " or moment >= bounds[4]", replace: "", test: failures },
  { name: "a week begins late", find: "when moment < bounds[2] then 1", replace: "when moment <= bounds[2] then 1" },
  { name: "the last week is the third", find: "when moment < bounds[3] then 2", replace: "when true then 2" },
  {
    name: "a week ends when the anchor moves",
    find: "if moment < stored.ends_at then return stored; end if;\n  -- After",
    replace:
      "if moment < stored.ends_at and bounds[interval_index] <= stored.starts_at then return stored; end if;\n  -- After",
  },
  {
    name: "a week outlives its end",
    find: "if moment < stored.ends_at then return stored; end if;\n  -- After",
    replace: "if stored.used > 0 then return stored; end if;\n  -- After",
  },
  {
    name: "a week begins before the last one ended",
    find: "then bounds[interval_index] else stored.ends_at end",
    replace: "then bounds[interval_index] else bounds[interval_index] end",
  },
  {
    name: "what is held does not count",
    find: "instance.used + instance.held + need",
    replace: "instance.used + need",
  },
  {
    name: "what is used does not count",
    find: "instance.used + instance.held + need",
    replace: "instance.held + need",
  },
  { name: "a bonus does not count", find: "> stock + instance.bonus", replace: "> stock" },
  {
    name: "the last credit is refused",
    find: "need > stock + instance.bonus",
    replace: "need >= stock + instance.bonus",
  },
  { name: "more is held than can be counted", find: "instance.held + amount <= 9007199254740991", replace: "true" },
  {
    name: "any instance is raised",
    find: "if instance.starts_at = starts_at then instance.held := instance.held + rise",
    replace: "if true then instance.held := instance.held + rise",
  },
  {
    name: "any instance is charged",
    find: "if instance.starts_at = starts_at then\n    instance.held",
    replace: "if true then\n    instance.held",
  },
  { name: "a hold is not given back", find: "instance.held := instance.held - held;", replace: "null;" },
  { name: "a window is taken up for nothing", find: "elsif amount > 0 and ", replace: "elsif " },
  { name: "an older window is taken up", find: "newest.starts_at < starts_at and ", replace: "" },
  { name: "an open window is replaced", find: "and newest.ends_at <= moment ", replace: "" },
  { name: "a window that is over is taken up", find: " and moment < ends_at\n$$", replace: "\n$$" },
  { name: "use falls below zero", find: "greatest(0, instance.used + amount)", replace: "instance.used + amount" },
  {
    name: "use grows beyond what can be counted",
    find: "least(greatest(0, instance.used + amount), 9007199254740991)",
    replace: "greatest(0, instance.used + amount)",
  },

  // Accounts
  {
    name: "accounts are not locked",
    find: "select * into account from infergate.account where id = wanted for update;",
    replace: "select * into account from infergate.account where id = wanted;",
    test: processes,
  },
  {
    name: "a session closes though something is used",
    find: "if (account.session).used = 0 and (account.session).held = 0",
    replace: "if (account.session).held = 0",
  },
  {
    name: "a session closes though something is held",
    find: "if (account.session).used = 0 and (account.session).held = 0",
    replace: "if (account.session).used = 0",
  },
  {
    name: "an empty session stays open",
    find: "return infergate.without_empty_session(account);",
    replace: "return account;",
  },
  {
    name: "a hold outlives its lease",
    find: "not expired and expires_at <= moment\n  order",
    replace: "not expired and expires_at < moment\n  order",
  },
  {
    name: "holds expire again and again",
    find: "hold.account = owner and not expired and expires_at <= moment\n  order",
    replace: "hold.account = owner and expires_at <= moment\n  order",
  },
  {
    name: "holds of other accounts expire",
    find: "where hold.account = owner and not expired and expires_at <= moment\n  order",
    replace: "where not expired and expires_at <= moment\n  order",
  },
  {
    name: "an expiry charges nothing",
    find: "due.starts, due.ends, due.held, due.checkpoint, moment",
    replace: "due.starts, due.ends, due.held, 0, moment",
  },
  { name: "an expiry is not in the journal", find: "continue when due.checkpoint = 0;", replace: "continue;" },
  { name: "an expiry of nothing is in the journal", find: "continue when due.checkpoint = 0;", replace: "" },
  { name: "an expired hold stays open", find: "set expired = true", replace: "set expired = false" },
  { name: "a later expiry is missed", find: "    horizon + 1\n", replace: "    horizon + 1000000\n" },
  {
    name: "the next expiry is missed",
    find: "      select min(expires_at) from",
    replace: "      select max(expires_at) from",
  },

  // Reservations
  {
    name: "an ended id is unknown",
    find: "where id = wanted and kind in ('charge', 'release')\n  limit 1",
    replace: "where id = wanted and false\n  limit 1",
  },
  {
    name: "a released id is unknown",
    find: "where id = wanted and kind in ('charge', 'release')\n  limit 1",
    replace: "where id = wanted and kind = 'charge'\n  limit 1",
  },
  {
    name: "an open id is unknown",
    find: "select * from infergate.hold where id = wanted",
    replace: "select * from infergate.hold where false",
    test: failures,
  },
  {
    name: "a clock outside the bounds is not minded",
    find: "if week is null or month is null then return infergate.step('clock', account, moment); end if;\n\n  select * into hold",
    replace: "select * into hold",
  },
  { name: "an id reserves for two accounts", find: "when known.account <> account then 'other_account' ", replace: "" },
  { name: "an id reserves two amounts", find: " when known.reserved <> amount then 'other_amount'", replace: "" },
  { name: "a session is not limited", find: "infergate.left_in(session, limits[1])", replace: "null::bigint" },
  { name: "a week is not limited", find: "infergate.left_in(week, limits[3])", replace: "null::bigint" },
  { name: "a month is not limited", find: "infergate.left_in(month, limits[8])", replace: "null::bigint" },
  {
    name: "a reservation of nothing opens a session",
    find: "if amount > 0 then account.session := session; end if;",
    replace: "account.session := session;",
  },
  { name: "a session holds nothing", find: "session.held := session.held + amount - by_prepaid;", replace: "" },
  { name: "a week holds nothing", find: "week.held := week.held + amount - by_prepaid;", replace: "" },
  { name: "a month holds nothing", find: "month.held := month.held + amount - by_prepaid;", replace: "" },
  {
    name: "a hold never expires",
    find: "account.next_expiry := least(account.next_expiry, hold.expires_at);",
    replace: "",
  },

  // Renewals
  {
    name: "another account's hold is renewed",
    find: "  status := infergate.conflict(known, account.id, (op->>'amount')::bigint);\n  if status is not null then return infergate.step(status, account, moment); end if;\n\n  known.tags",
    replace: "  known.tags",
  },
  { name: "an expired hold is renewed", find: "if known.expired then\n    rise", replace: "if false then\n    rise" },
  {
    name: "a lower cost takes a charge back",
    find: "if rise > 0 then\n      known.held",
    replace: "if rise <> 0 then\n      known.held",
  },
  {
    name: "a renewal after the expiry charges nothing",
    find: "known.starts, known.ends, 0, rise, moment",
    replace: "known.starts, known.ends, 0, 0, moment",
  },
  { name: "a hold is lowered", find: "if rise > 0 and known.held > 0", replace: "if known.held > 0" },
  { name: "a hold of nothing is raised", find: "if rise > 0 and known.held > 0", replace: "if rise > 0" },
  { name: "a checkpoint falls", find: "greatest(checkpoint, observed)", replace: "observed" },
  {
    name: "a lease is shortened",
    find: "greatest(expires_at, moment + (op->>'leaseMs')::bigint)",
    replace: "moment + (op->>'leaseMs')::bigint",
  },
  { name: "a hold is not raised for good", find: "    held = known.held,\n", replace: "" },

  // Settlements
  {
    name: "another account settles a hold",
    find: "where id = op->>'id' and hold.account = account.id and reserved",
    replace: "where id = op->>'id' and reserved",
  },
  { name: "another amount settles a hold", find: " and reserved = amount\n    returning", replace: "\n    returning" },
  { name: "a late charge counts twice", find: "charge := charge - known.checkpoint;", replace: "" },
  { name: "an expired hold is given back twice", find: "known.held := 0;\n      status", replace: "status" },
  {
    name: "a settlement is not recognised again",
    find: "return infergate.settled('duplicate', account, infergate.paid_at_end(known.id), moment);",
    replace: "",
  },
  {
    name: "a settlement of another account is a repetition",
    find: "status := infergate.conflict(known, account.id, amount);\n      if status",
    replace: "if status",
  },
  {
    name: "what was dropped is charged again",
    find: "where dropped_until >= (op->>'since')::bigint or dropped_until >= known.first_expires_at",
    replace: "where false",
    test: retention,
  },
  {
    name: "what was settled and dropped is charged again",
    find: "where dropped_until >= (op->>'since')::bigint or dropped_until",
    replace: "where dropped_until",
    test: retention,
  },
  {
    name: "what died and was dropped is charged again",
    find: " or dropped_until >= known.first_expires_at",
    replace: "",
    test: retention,
  },
  {
    name: "a forgetting locks entries before their account",
    find: "perform infergate.lock_account(wanted);\n  next_moment",
    replace:
      "perform from infergate.entry where account = wanted for update; perform infergate.lock_account(wanted);\n  next_moment",
    test: retention,
  },
  {
    name: "a settlement charges nothing",
    find: "known.starts, known.ends, known.held, charge, moment",
    replace: "known.starts, known.ends, known.held, 0, moment",
  },
  {
    name: "a settlement gives nothing back",
    find: "known.starts, known.ends, known.held, charge, moment",
    replace: "known.starts, known.ends, 0, charge, moment",
  },

  // Corrections
  {
    name: "a grant is not recognised again",
    find: "and kind = 'grant';\n  if found",
    replace: "and false;\n  if found",
  },
  { name: "a grant id serves two amounts", find: "if earlier.amount <> granted then", replace: "if false then" },
  {
    name: "a grant id serves two windows",
    find: "if earlier.starts[window_index] is null then",
    replace: "if false then",
  },
  {
    name: "a session that is not open takes a grant",
    find: "if moment >= chosen.ends_at then",
    replace: "if false then",
  },
  {
    name: "a bonus grows beyond what can be counted",
    find: "if abs(chosen.bonus) > 9007199254740991 then",
    replace: "if false then",
    test: failures,
  },
  { name: "a reset of nothing is in the journal", find: "if instance.used = 0 or ", replace: "if " },
  {
    name: "a window that is over is reset",
    find: " or instance.ends_at <= moment then return instance",
    replace: " then return instance",
  },
  {
    name: "a reset leaves an empty session open",
    find: "'reset', infergate.without_empty_session(account), moment);\nend",
    replace: "'reset', account, moment);\nend",
  },
  {
    name: "a grant that is taken back leaves an empty session open",
    find: "'granted', infergate.without_empty_session(account), moment);\nend",
    replace: "'granted', account, moment);\nend",
  },
  {
    name: "a session closes though something was granted to it",
    find: " and (account.session).bonus = 0 then",
    replace: " then",
  },

  // Statements
  {
    name: "the clock is read before the wait for the lock",
    find: "before := infergate.lock_account(batch->>'account');\n    -- After the lock: it may have been waited for.\n    moment := infergate.clock_ms();",
    replace: "moment := infergate.clock_ms();\n    before := infergate.lock_account(batch->>'account');",
    test: retention,
  },
  {
    name: "an expiry alone is not kept",
    find: "step.account := infergate.expire_holds(before, moment);",
    replace: "before := infergate.expire_holds(before, moment); step.account := before;",
  },
  {
    name: "a look does not see what has expired",
    find: "infergate.without_expired(account, moment), moment);",
    replace: "account, moment);",
  },

  // Retention
  {
    name: "what was dropped is not noted",
    find: "update infergate.retention set dropped_until = latest where dropped_until < latest;",
    replace: "",
    test: retention,
  },
  {
    name: "open holds are dropped",
    find: "where expired and expires_at < before",
    replace: "where expires_at < before",
    test: retention,
  },
  {
    name: "entries are dropped too early",
    find: "from infergate.entry where at < before",
    replace: "from infergate.entry where at <= before",
    test: retention,
  },
  { name: "holds survive their account", find: "delete from infergate.hold where account = wanted;", replace: "" },
  {
    name: "the journal survives its account",
    find: "  delete from infergate.account where id = wanted;",
    replace: "",
  },

  {
    name: "a settlement of a forgotten lease is charged",
    find: "infergate.is_forgotten(account.id, known.starts[1])",
    replace: "false",
  },
  {
    name: "a lease of the millisecond in which its account was forgotten is charged",
    find: "and at >= session_start",
    replace: "and at > session_start",
  },
  {
    name: "what is forgotten leaves an empty row when something comes late",
    find: "      delete from infergate.account where id = before.id;\n",
    replace: "      null;\n",
    test: retention,
  },
  {
    name: "when an account was forgotten is kept for ever",
    find: "  delete from infergate.forgotten where at < infergate.clock_ms() - 86400000;\n",
    replace: "",
    test: retention,
  },
  ...recordMutations,
  ...isolateMutations,
  ...limitMutations,
  ...fundingMutations,
  ...responseMutations,
  ...usageMutations,
  ...quarterMutations,
  ...sliceMutations,
  ...runningMutations,
];
