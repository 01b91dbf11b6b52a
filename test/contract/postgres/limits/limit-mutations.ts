import type { Mutation } from "../../../meta/mutation/mutation.js";

const processes = "limits/postgres-limits-processes";
const retention = "limits/postgres-limits-retention";

/** Lines of prepaid credits, caps and rates to break. */
export const limitMutations: readonly Mutation[] = [
  // Prepaid credits
  { name: "a lot that has expired admits", find: "filter (where moment < expiry)", replace: "filter (where true)" },
  { name: "what is overdrawn admits", find: "::bigint - prepaid.overdrawn\n", replace: "::bigint\n" },
  { name: "lots are not in order", find: "while prepaid.expiries[place] < expiry loop", replace: "while false loop" },
  { name: "each top-up is a lot", find: "if prepaid.expiries[place] = expiry then", replace: "if false then" },
  { name: "there may be any number of lots", find: ">= 100 then return null", replace: ">= 1000 then return null" },
  { name: "an empty lot stays", find: "if 0 = any (prepaid.amounts) then", replace: "if false then" },
  { name: "a prepaid hold is not given back", find: "prepaid.held := prepaid.held - held;", replace: "" },
  {
    name: "what a correction gives back pays nothing",
    find: "paid := least(prepaid.overdrawn, due);",
    replace: "paid := 0;",
  },
  {
    name: "what a correction gives back never expires",
    find: "coalesce(prepaid.expiries[1], 9007199254740991)",
    replace: "9007199254740991",
  },
  {
    name: "a call is paid by lots that had expired before it",
    find: "continue when prepaid.expiries[place] <= admitted_at;",
    replace: "",
  },
  {
    name: "nothing is overdrawn",
    find: "least(prepaid.overdrawn + due, 9007199254740991)",
    replace: "prepaid.overdrawn",
  },
  {
    name: "lots lapse while an open call may need them",
    find: "not expired and (part->>'prepaidAt')::bigint < prepaid.expiries[1]",
    replace: "not expired and false",
  },
  {
    name: "lots lapse once no call has expired",
    find: "not expired and (part->>'prepaidAt')::bigint < prepaid.expiries[1]",
    replace: "(part->>'prepaidAt')::bigint < prepaid.expiries[1]",
  },
  {
    name: "lots lapse only once no call is open",
    find: "not expired and (part->>'prepaidAt')::bigint < prepaid.expiries[1]",
    replace: "not expired",
  },
  {
    name: "a call needs the lot that ends as it is admitted",
    find: "(part->>'prepaidAt')::bigint < prepaid.expiries[1]",
    replace: "(part->>'prepaidAt')::bigint <= prepaid.expiries[1]",
  },
  {
    name: "a lot lapses with an earlier one, though an open call may need it",
    find: "  until := least(moment, (",
    replace: "  until := greatest(moment, (",
  },
  {
    name: "all open calls are looked at for what has expired",
    find: "create index hold_prepaid on infergate.hold (account, ((part->>'prepaidAt')::bigint))",
    replace: "create index hold_prepaid on infergate.hold (((part->>'prepaidAt')::bigint))",
    test: "limits/postgres-lapse",
  },
  { name: "all lots lapse with the first", find: "exit when until < prepaid.expiries[place];", replace: "" },
  {
    name: "nothing lapses",
    find: "if (step.account).prepaid is not null then step.account := infergate.lapse(step.account, moment); end if;",
    replace: "",
  },
  {
    name: "a top-up id serves two accounts",
    find: "when known.account <> owner then 'other_account'\n",
    replace: "",
  },
  {
    name: "a top-up id serves two amounts",
    find: "when known.amount <> earlier_top_up.amount then 'other_amount'\n",
    replace: "",
  },
  {
    name: "a top-up id serves two expiries",
    find: "when known.expires_at <> expiry then 'other_expiry'\n",
    replace: "",
  },
  { name: "a top-up may have expired", find: "if expiry <= moment then", replace: "if false then" },
  {
    name: "more is bought than can be counted",
    find: "coalesce(sum(amount), 0) + bought > 9007199254740991",
    replace: "false",
  },
  { name: "a top-up pays nothing", find: "paid := least(prepaid.overdrawn, bought);", replace: "paid := 0;" },
  {
    name: "a top-up is not recognised again",
    find: "  insert into infergate.top_up values (op->>'id', account.id, bought, expiry, moment);\n",
    replace: "",
  },
  {
    name: "a prepaid call holds nothing",
    find: "infergate.hold_prepaid(account.prepaid, by_prepaid)",
    replace: "account.prepaid",
  },
  {
    name: "a prepaid hold is not raised",
    find: "infergate.hold_prepaid(account.prepaid, rise)",
    replace: "account.prepaid",
  },
  {
    name: "a prepaid call is charged to the windows",
    find: "if held > 0 or share <> 0 then",
    replace: "if false then",
  },
  {
    name: "an entry of a prepaid call names windows",
    find: "case when share <> 0 and share = amount then array[null, null, null]::bigint[] || starts else starts end",
    replace: "starts",
  },
  {
    name: "a repetition of a prepaid call has no windows",
    find: "starts[cardinality(starts) - 2:]",
    replace: "starts[:3]",
    test: "limits/postgres-lapse",
  },
  { name: "prepaid credits are not kept", find: ",\n        prepaid = (step.account).prepaid\n", replace: "\n" },

  // Caps
  { name: "caps deny nothing", find: "when infergate.lacks(instance, stock, need) then 'denied'", replace: "" },
  {
    name: "a cap outside its bounds is not minded",
    find: "      when instance is null then 'clock'\n",
    replace: "",
  },
  {
    name: "caps hold more than can be counted",
    find: "      when not infergate.can_hold(instance, amount) then 'too_large'\n",
    replace: "",
  },
  { name: "a cap holds nothing", find: "(cap.instance).held + amount\n", replace: "(cap.instance).held\n" },
  { name: "a reservation of nothing begins a cap", find: "continue when amount = 0;", replace: "" },
  {
    name: "a cap that is empty stays",
    find: "if instance.used = 0 and instance.held = 0 then return",
    replace: "if false then return",
  },
  {
    name: "a cap is not raised",
    find: "update infergate.cap set held = held + rise",
    replace: "update infergate.cap set held = held",
  },
  {
    name: "any span of a cap is raised",
    find: " and cap.starts_at = (leased->>'start')::bigint",
    replace: "",
  },
  {
    name: "caps are not charged",
    find: "  perform infergate.charge_caps(account.id, hold.part, hold.held, amount, moment);",
    replace: "",
  },
  {
    name: "a look does not see what expires of caps",
    find: "piece, due.held, due.checkpoint, moment);",
    replace: "piece, 0, 0, moment);",
  },

  // Rates
  { name: "a bucket is filled by a clock that steps back", find: "greatest(0, elapsed)", replace: "elapsed" },
  { name: "a process that is behind fills a bucket twice", find: "between 0 and 1000", replace: "between 1 and 0" },
  {
    name: "a bucket grows beyond its size",
    find: "* bucket.per_minute, capacity);",
    replace: "* bucket.per_minute, 9007199254740991);",
  },
  {
    name: "a long pause is more than can be counted",
    find: "elapsed := least(elapsed, (capacity - bucket.level) / bucket.per_minute + 1);",
    replace: "null;",
  },
  {
    name: "a bucket of which something is held is idle",
    find: "return bucket.held = 0 and filled",
    replace: "return filled",
  },
  { name: "a lower limit does not cut", find: "bucket.level := least(bucket.level, capacity);", replace: "" },
  {
    name: "any number of calls are open at once",
    find: "bucket.held + (rate->>'take')::bigint > bucket.per_minute",
    replace: "false",
  },
  {
    name: "any number of requests passes",
    find: "bucket.level < (rate->>'take')::bigint * 60000",
    replace: "false",
    test: processes,
  },
  { name: "any number of tokens passes", find: "else bucket.level < 1", replace: "else false" },
  { name: "nothing is taken", find: "bucket.level - taken * 60000,", replace: "bucket.level," },
  { name: "nothing taken is held", find: "bucket.held := bucket.held + taken;", replace: "null;" },
  { name: "what was taken stays held", find: "bucket.held := bucket.held - taken;", replace: "null;" },
  { name: "what was not used does not go back", find: "(taken - actual) * 60000", replace: "0" },
  { name: "a release keeps what was taken", find: "ending = 'release' or ", replace: "" },
  { name: "an expiry keeps tokens", find: "(ending = 'expiry' and take->>'kind' = 'tokens')", replace: "false" },
  {
    name: "what renewals report is lost",
    find: "if known.part is not null and op ? 'uses' then",
    replace: "if false then",
  },
  { name: "what has expired goes back again", find: "part = part - 'takes' - 'uses'", replace: "part = part" },

  // Retention
  {
    name: "a cap of today is dropped",
    find: "where ends_at < moment - day and held = 0",
    replace: "where true",
    test: retention,
  },
  {
    name: "a bucket in use is dropped",
    find: "where keep_until < moment and held = 0",
    replace: "where true",
    test: retention,
  },
  {
    name: "a top-up of this month is dropped",
    find: "at < moment - greatest(retention_ms, 31 * day)",
    replace: "at < moment - retention_ms",
    test: retention,
  },
  { name: "caps survive their account", find: "  delete from infergate.cap where account = wanted;\n", replace: "" },
  {
    name: "buckets survive their account",
    find: "  delete from infergate.bucket where account = wanted;\n",
    replace: "",
  },
];
