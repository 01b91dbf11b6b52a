// biome-ignore-all lint/suspicious/noTemplateCurlyInString: it is found in the source, where codes stand in templates
import type { Mutation } from "../../meta/mutation/mutation.js";
import { batchMutations } from "./batch/batch-mutations.js";
import { bookMutations } from "./book-mutations.js";
import { fundingMutations } from "./limits/funding-mutations.js";
import { limitMutations } from "./limits/limit-mutations.js";
import { sweepMutations } from "./limits/sweep-mutations.js";
import { recordMutations } from "./record-mutations.js";
import { responseCacheMutations } from "./response-cache-mutations.js";
import { responseMutations } from "./response-mutations.js";

const availability = "availability";
const batch = "batch/batched-ledger";
const scripts = "scripts";

export const mutations: readonly Mutation[] = [
  ...bookMutations,
  ...responseCacheMutations,
  // Accounts
  { name: "an account ends with its windows", find: "local graceMs = dayMs", replace: "local graceMs = 0" },
  { name: "an account ends before its leases", find: ", now + maxLeaseMs)", replace: ")" },
  {
    name: "an account lasts no time",
    find: "write('SET', accountKey, packedAccount, 'PX', ttl)",
    replace: "write('SET', accountKey, packedAccount, 'PX', 1000)",
  },
  {
    name: "an account lasts for ever",
    find: "write('SET', accountKey, packedAccount, 'PX', ttl)",
    replace: "write('SET', accountKey, packedAccount)",
  },
  {
    name: "an account ends before its session",
    find: "math.max(account.session.finish, account.week.finish",
    replace: "math.max(account.week.finish",
  },
  {
    name: "an account ends before its month",
    find: "account.week.finish, account.month.finish, now + maxLeaseMs",
    replace: "account.week.finish, now + maxLeaseMs",
  },
  {
    name: "holds last no time",
    find: "{ holdsKey, leasesKey, expiredKey }",
    replace: "{ leasesKey, expiredKey }",
  },
  {
    name: "leases last no time",
    find: "{ holdsKey, leasesKey, expiredKey }",
    replace: "{ holdsKey, expiredKey }",
  },
  {
    name: "expired holds last for ever",
    find: "{ holdsKey, leasesKey, expiredKey }",
    replace: "{ holdsKey, leasesKey }",
  },
  {
    name: "a balance is lost",
    find: "week.held, week.bonus,\n    month",
    replace: "week.held, 0,\n    month",
    part: "account",
  },

  // Windows
  { name: "bounds may lie ahead", find: "not (now >= bound1 and now < bound4)", replace: "not (now < bound4)" },
  { name: "bounds may lie behind", find: "not (now >= bound1 and now < bound4)", replace: "not (now >= bound1)" },
  { name: "a week begins late", find: "local start = now < bound2 and", replace: "local start = now <= bound2 and" },
  {
    name: "the next week begins late",
    find: "or now < bound3 and bound2 or bound3",
    replace: "or now <= bound3 and bound2 or bound3",
  },
  { name: "a week ends late", find: "local finish = now < bound2 and", replace: "local finish = now <= bound2 and" },
  {
    name: "the next week ends late",
    find: "or now < bound3 and bound3 or bound4",
    replace: "or now <= bound3 and bound3 or bound4",
  },
  {
    name: "a week ends when the anchor moves",
    find: "  if now < stored.finish then return stored end\n",
    replace: "  if now < stored.finish and start <= stored.start then return stored end\n",
  },
  {
    name: "a week lasts for ever",
    find: "  if now < stored.finish then return stored end\n",
    replace: "  if true then return stored end\n",
  },
  {
    name: "a week outlives its end",
    find: "  if now < stored.finish then return stored end\n",
    replace: "  if now <= stored.finish then return stored end\n",
  },
  {
    name: "a week begins before the last one ended",
    find: "start > stored.start and start or stored.finish",
    replace: "start",
  },
  {
    name: "a session outlives its end",
    find: "if now < account.session.finish then return",
    replace: "if now <= account.session.finish then return",
  },
  {
    name: "a session lasts for ever",
    find: "if now < account.session.finish then return",
    replace: "if account.session.finish > never then return",
  },

  // Charges
  {
    name: "a session closes though something is used",
    find: "if session.used == 0 and session.held == 0 and session.bonus == 0 then",
    replace: "if session.held == 0 and session.bonus == 0 then",
  },
  {
    name: "a session closes though something is held",
    find: "if session.used == 0 and session.held == 0 and session.bonus == 0 then",
    replace: "if session.used == 0 and session.bonus == 0 then",
  },
  {
    name: "an empty session stays open",
    find: "if session.used == 0 and session.held == 0 and session.bonus == 0 then",
    replace: "if false then",
  },
  {
    name: "any instance is charged",
    find: "local isSame = instance.start == admitted.start",
    replace: "local isSame = true",
  },
  {
    name: "a hold is not given back",
    find: "instance.held = instance.held - held",
    replace: "instance.held = instance.held",
  },
  { name: "a window is taken up for nothing", find: "amount > 0 and isLater(", replace: "isLater(" },
  {
    name: "an older window is taken up",
    find: "newest.start < admitted.start and newest.finish",
    replace: "newest.finish",
  },
  { name: "an open window is replaced", find: " and newest.finish <= now and", replace: " and" },
  {
    name: "a window that is over is taken up",
    find: "newest.finish <= now and now < admitted.finish",
    replace: "newest.finish <= now",
  },
  { name: "a window that is taken up is lost", find: "      account[name] = instance\n", replace: "" },
  {
    name: "a window that is taken up is no reason to last",
    find: "isSame, isExtended = true, true",
    replace: "isSame = true",
  },
  { name: "use falls below zero", find: "math.max(0, instance.used + amount)", replace: "(instance.used + amount)" },
  { name: "use grows beyond what can be counted", find: "), maxInteger) end", replace: "), 2 * maxInteger) end" },

  // Journal
  { name: "a journal is kept that nobody wants", find: "  if journalEntries == 0 then return end\n", replace: "" },
  {
    name: "the journal of an account that was lost begins anew",
    find: "  if ms == 0 then\n",
    replace: "  if false then\n",
  },
  { name: "the journal's time goes back with the clock", find: "  if now > ms then\n", replace: "  if true then\n" },
  {
    name: "two entries of a moment are one",
    find: "    sequence = sequence + 1\n",
    replace: "    sequence = sequence\n",
  },
  {
    name: "the journal's place is not kept",
    find: "  account.journalMs, account.journalSequence = ms, sequence\n",
    replace: "",
    test: availability,
  },
  { name: "the journal grows without end", find: "'MAXLEN', '~', journalEntries, ", replace: "" },
  { name: "old entries stay", find: "    redis.pcall('XTRIM'", replace: "    local _ = ('XTRIM'" },
  {
    name: "the journal lasts for ever",
    find: "    write('PEXPIRE', journalKey, journalRetentionMs + dayMs)\n",
    replace: "",
  },
  { name: "tags are lost", find: "'tags', tags or ''", replace: "'tags', ''" },
  { name: "an entry is about other windows", find: "week and week.start or 0, month", replace: "0, month" },

  // Expiry
  {
    name: "a hold outlives its lease",
    find: "return now >= account.nextExpiry and expireDue()",
    replace: "return now > account.nextExpiry and expireDue()",
  },
  { name: "no hold expires", find: "return now >= account.nextExpiry and expireDue()", replace: "return false" },
  {
    name: "what was settled is to expire",
    find: "  if now >= account.nextExpiry then\n    -- Most",
    replace: "  if false then\n    -- Most",
  },
  {
    name: "all holds expire in one script",
    find: "'-inf', now, 'LIMIT', 0, budget)",
    replace: "'-inf', now, 'LIMIT', 0, 100000)",
  },
  {
    name: "an expiry charges nothing",
    find: "endHold(hold, part, hold.held, hold.checkpoint)",
    replace: "endHold(hold, part, hold.held, 0)",
    part: "leases",
  },
  {
    name: "an expiry gives nothing back",
    find: "endHold(hold, part, hold.held, hold.checkpoint)",
    replace: "endHold(hold, part, 0, hold.checkpoint)",
    part: "leases",
  },
  {
    name: "an expiry of nothing is in the journal",
    find: "if hold.checkpoint > 0 then\n        journal",
    replace: "if true then\n        journal",
  },
  {
    name: "an expiry is not in the journal",
    find: "if hold.checkpoint > 0 then\n        journal",
    replace: "if false then\n        journal",
  },
  { name: "an expired hold stays open", find: "hold.held, hold.isExpired = 0, true", replace: "hold.held = 0" },
  {
    name: "an expired hold still holds",
    find: "hold.held, hold.isExpired = 0, true",
    replace: "hold.isExpired = true",
  },
  { name: "a hold expires again and again", find: "  write('ZREM', leasesKey, unpack(due))\n", replace: "" },
  { name: "expired holds stay", find: "    write('HDEL', holdsKey, unpack(old))\n", replace: "" },
  {
    name: "expired holds are forgotten again and again",
    find: "    write('ZREM', expiredKey, unpack(old))\n",
    replace: "",
  },
  {
    name: "an expired hold is forgotten at once",
    find: "'-inf', now - expiredMemoryMs, 'LIMIT'",
    replace: "'-inf', now, 'LIMIT'",
  },
  {
    name: "what was forgotten is taken for unknown",
    find: "    account.forgottenUntil = math.max(account.forgottenUntil, now - expiredMemoryMs)\n",
    replace: "",
  },
  {
    name: "what was forgotten is known again when the clock goes back",
    find: "math.max(account.forgottenUntil, now - expiredMemoryMs)",
    replace: "now - expiredMemoryMs",
  },
  { name: "an expiry is not kept", find: "    write('HSET', holdsKey, unpack(records))\n", replace: "" },
  { name: "when a hold expired is not kept", find: "    write('ZADD', expiredKey, unpack(times))\n", replace: "" },
  {
    name: "the next expiry is missed",
    find: "account.nextExpiry = tonumber(first[2] or maxInteger)\n  keepAccount",
    replace: "account.nextExpiry = maxInteger\n  keepAccount",
  },
  {
    name: "the next expiry is missed where another was settled",
    find: "  account.nextExpiry = tonumber(first[2] or maxInteger)\n  end",
    replace: "  account.nextExpiry = maxInteger\n  end",
  },
  { name: "an expiry is not counted", find: "  keepAccount(true)\n  local isCut", replace: "  local isCut" },
  {
    name: "what expired is not kept as long as its account",
    find: "  keepAccount(true)\n  local isCut",
    replace: "  keepAccount(false)\n  local isCut",
  },
  {
    name: "the rest of many holds stays open",
    find: "local isCut = #due == budget",
    replace: "local isCut = false",
  },

  // Leases
  { name: "an expired hold is read as open", find: "isExpired = isExpired == 1,", replace: "isExpired = false," },

  // Reservations
  {
    name: "a clock outside the bounds is not minded",
    find: "if not (week and month) then return answerAlone(${code.missedBounds}) end\n",
    replace: "",
    part: "reserve",
  },
  {
    name: "an open id reserves again",
    find: "local earlier = known or readLease",
    replace: "local earlier = readLease",
  },
  {
    name: "an ended id reserves again",
    find: "local earlier = known or readLease(call('GET', ownKey))",
    replace: "local earlier = known",
  },
  {
    name: "an id reserves two amounts",
    find: "  if earlier.amount ~= amount then return answerAlone(${code.conflict}) end\n",
    replace: "",
  },
  {
    name: "a window without a limit is limited to nothing",
    find: "return limit < 0 and math.huge or ",
    replace: "return ",
  },
  {
    name: "a limit of nothing is none",
    find: "return limit < 0 and math.huge",
    replace: "return limit <= 0 and math.huge",
  },
  {
    name: "what is held does not count",
    find: "roomIn(instance, limit) - instance.held",
    replace: "roomIn(instance, limit)",
  },
  {
    name: "what is used does not count",
    find: "limit + instance.bonus - instance.used",
    replace: "limit + instance.bonus",
  },
  { name: "the last credit is refused", find: "heldOfBalance < need", replace: "heldOfBalance <= need" },
  { name: "a bonus does not count", find: "limit + instance.bonus", replace: "limit" },
  { name: "a session is not limited", find: "math.min(leftIn(session, sessionLimit), ", replace: "math.min(" },
  { name: "a week is not limited", find: "leftIn(week, weekLimit), ", replace: "" },
  { name: "a month is not limited", find: ", leftIn(month, monthLimit))", replace: ")" },
  {
    name: "more is held than can be counted",
    find: "math.max(session.held, week.held, month.held) + amount > maxInteger\n    or ",
    replace: "",
  },
  {
    name: "holds end before a new month",
    find: "local isExtended = week ~= account.week or month ~= account.month\n",
    replace: "local isExtended = false\n",
  },
  { name: "an account has no week or month", find: "account.week, account.month = week, month\n", replace: "" },
  {
    name: "a week and a month hold nothing",
    find: "week.held, month.held = week.held + ofPlan, month.held + ofPlan\n",
    replace: "",
  },
  {
    name: "a reservation of nothing opens a session",
    find: "if amount > 0 then\n",
    replace: "if true then\n",
    part: "reserve",
  },
  {
    name: "a session is not kept",
    find: "  account.session, open = session, session\n",
    replace: "  open = session\n",
  },
  { name: "a session holds nothing", find: "  session.held = session.held + ofPlan\n", replace: "" },
  {
    name: "holds end before a longer session",
    find: "  isExtended = isExtended or session ~= account.session\n",
    replace: "",
  },
  {
    name: "a hold never expires",
    find: "account.nextExpiry = math.min(account.nextExpiry, lease.expiresAt)\n",
    replace: "",
  },
  {
    name: "an earlier hold expires with a later one",
    find: "account.nextExpiry = math.min(account.nextExpiry, lease.expiresAt)\n",
    replace: "account.nextExpiry = lease.expiresAt\n",
  },
  { name: "a hold is not kept", find: "write('HSET', holdsKey, id, packLease(lease))\n", replace: "", part: "reserve" },
  { name: "when a hold expires is not kept", find: "write('ZADD', leasesKey, lease.expiresAt, id)\n", replace: "" },
  {
    name: "new holds last for ever",
    find: "keepAccount(isExtended or part, true)",
    replace: "keepAccount(isExtended or part)",
  },
  { name: "a reservation is not counted", find: "keepAccount(isExtended or part, true)", replace: "" },
  {
    name: "the lease of nothing names no session",
    find: "if session == open then return answer(${code.admitted}, open, week, month) end\n",
    replace: "if true then return answer(${code.admitted}, open, week, month) end\n",
  },

  // Renewals
  { name: "a lease is shortened", find: "math.max(tonumber(call('ZSCORE', key, id)), time)", replace: "time" },
  {
    name: "a checkpoint falls",
    find: "hold.checkpoint = math.max(hold.checkpoint, observed)",
    replace: "hold.checkpoint = observed",
  },
  { name: "a hold of nothing is raised", find: "if hold.held == 0 or rise <= 0", replace: "if rise <= 0" },
  { name: "a hold is lowered", find: "if hold.held == 0 or rise <= 0 or", replace: "if hold.held == 0 or" },
  { name: "a hold is raised beyond what can be counted", find: " or most + rise > maxInteger then", replace: " then" },
  { name: "a hold is not raised for good", find: "  hold.held = observed\n", replace: "" },
  {
    name: "any instance is raised",
    find: "    if account[name].start == hold[name].start then account",
    replace: "    if true then account",
  },
  { name: "a renewal holds nothing more", find: "  raise(hold, part, observed)\n", replace: "" },
  {
    name: "a renewal is not kept",
    find: "  write('HSET', holdsKey, id, packLease(hold))\n  if part then\n    part.uses",
    replace: "  if part then\n    part.uses",
  },
  { name: "a renewal does not extend the lease", find: "  postpone(leasesKey, id, now + leaseMs)\n", replace: "" },
  {
    name: "a renewal is not counted",
    find: "  isChanged, isExtended = true, true\n",
    replace: "  isExtended = true\n",
  },
  {
    name: "what is renewed is not kept as long as its account",
    find: "  isChanged, isExtended = true, true\n",
    replace: "  isChanged = true\n",
  },
  {
    name: "a lower cost takes a charge back",
    find: "  if rise > 0 then\n    local",
    replace: "  if rise ~= 0 then\n    local",
  },
  {
    name: "a renewal after the expiry charges nothing",
    find: "local hasLaterEnd, share = endHold(hold, part, 0, rise)",
    replace: "local hasLaterEnd, share = true, 0",
  },
  {
    name: "a renewal after the expiry is not counted",
    find: "isChanged, isExtended = true, isExtended or hasLaterEnd",
    replace: "isExtended = isExtended or hasLaterEnd",
    part: "reserve",
  },
  {
    name: "a renewal after the expiry is not in the journal",
    find: "    journalCharge(id, 'checkpoint', hold, rise, share, tags or call('HGET', holdsKey, tagsField(id)))\n",
    replace: "",
  },
  {
    name: "a renewal after the expiry charges again and again",
    find: "    hold.checkpoint = observed\n    write",
    replace: "    write",
  },
  {
    name: "a renewal after the expiry is not kept",
    find: "    write('HSET', holdsKey, id, packLease(hold))\n  end",
    replace: "  end",
  },
  { name: "what is renewed after the expiry is forgotten", find: "  postpone(expiredKey, id, now)\n", replace: "" },
  {
    name: "an id that is unknown is renewed",
    find: "  if not hold then\n    reply[index + 1] = 'closed'",
    replace: "  if not hold then\n    reply[index + 1] = 'renewed'",
  },
  {
    name: "a hold of another amount is renewed",
    find: "elseif hold.amount ~= amount then",
    replace: "elseif false then",
  },
  {
    name: "an expired hold is renewed",
    find: "elseif hold.isExpired then\n    renewExpired",
    replace: "elseif false then\n    renewExpired",
  },

  // Settlements
  { name: "a settlement is forgotten too early", find: "local receiptMs = 120000", replace: "local receiptMs = 12000" },
  {
    name: "a repetition may come later than a settlement is known",
    find: "local repetitionMs = 60000",
    replace: "local repetitionMs = 600000",
  },
  {
    name: "an ended id is charged again",
    find: "local known = hold or readLease(call('GET', ownKey))",
    replace: "local known = hold",
  },
  {
    name: "another amount's hold is settled",
    find: "if known and known.amount ~= reserved then return answerAlone(${code.conflict}) end\n",
    replace: "",
  },
  {
    name: "a settlement is not recognised again",
    find: "  if known and not hold then\n",
    replace: "  if false then\n",
  },
  { name: "a late repetition is charged again", find: "if firstSentAt <= now - repetitionMs or ", replace: "if " },
  {
    name: "what died and was forgotten is charged again",
    find: " or expiresAt <= account.forgottenUntil then",
    replace: " then",
  },
  {
    name: "a charge that is not made is not told of",
    find: "    journal(id, 'unresolved', amount, lease, tags)\n",
    replace: "",
  },
  {
    name: "the place of a charge that is not made is not kept",
    find: "      keepAccount(false)\n      return answerNow(${code.unresolved})",
    replace: "      return answerNow(${code.unresolved})",
  },
  { name: "a charge that is not made is told as one", find: "    return answerNow(${code.unresolved})\n", replace: "" },
  {
    name: "a late charge counts twice",
    find: "status, charge = ${code.late}, amount - hold.checkpoint",
    replace: "status = ${code.late}",
  },
  {
    name: "a settlement gives nothing back",
    find: "endHold(lease, part, lease.held, charge)",
    replace: "endHold(lease, part, 0, charge)",
  },
  {
    name: "a settlement charges nothing",
    find: "endHold(lease, part, lease.held, charge)",
    replace: "endHold(lease, part, lease.held, 0)",
  },
  {
    name: "a settlement is not in the journal",
    find: "journalCharge(id, kind, lease, charge, share, tags)\n",
    replace: "",
  },
  {
    name: "a settlement is not known afterwards",
    find: "write('SET', ownKey, packReceipt(lease), 'PX', receiptMs)\n",
    replace: "",
  },
  {
    name: "a settlement is known for ever",
    find: "write('SET', ownKey, packReceipt(lease), 'PX', receiptMs)\n",
    replace: "write('SET', ownKey, packReceipt(lease))\n",
  },
  {
    name: "a settled hold stays",
    find: "    if part or hold.checkpoint > 0 then\n      write('HDEL', holdsKey, id, partField(id), tagsField(id))\n    else\n      write('HDEL', holdsKey, id)\n    end\n",
    replace: "",
  },
  {
    name: "a settled hold is to expire",
    find: "  write('ZREM', hold.isExpired and expiredKey or leasesKey, id)\n",
    replace: "",
  },
  {
    name: "a hold that is settled late is to be forgotten",
    find: "hold.isExpired and expiredKey or leasesKey, id",
    replace: "leasesKey, id",
  },
  {
    name: "a settlement is not counted",
    find: "  keepAccount(isExtended)\n  showPaid",
    replace: "  showPaid",
  },
  {
    name: "a window that is taken up again ends before its account",
    find: "  keepAccount(isExtended)\n  showPaid",
    replace: "  keepAccount(false)\n  showPaid",
  },

  // Batches
  {
    name: "a failed operation fails others",
    find: "local isDone, reply = pcall(run, operation)",
    replace: "local isDone, reply = true, run(operation)",
    test: batch,
  },
  {
    name: "an operation that failed counts",
    find: "if hasWritten then\n    keepAccount(true)",
    replace: "if true then\n    keepAccount(true)",
    test: batch,
  },
  {
    name: "what a failed operation wrote does not count",
    find: "if hasWritten then\n    keepAccount(true)",
    replace: "if false then\n    keepAccount(true)",
    test: batch,
  },
  {
    name: "an expiry before it keeps what a failed operation counted",
    find: "  hasWritten = false\n  shown = nil\n",
    replace: "  shown = nil\n",
    test: batch,
  },
  {
    name: "an account is written without its first operations",
    find: "local isWritten, writeFailure = pcall(writeAccount)",
    replace: "local isWritten, writeFailure = #operations == 1, 'ERR'\n  if isWritten then writeAccount() end",
    test: batch,
  },
  {
    name: "an operation's key is another's",
    find: "if hasOwnKey[operation[1]] then ownKey = takeKeys(1) end",
    replace: "if position == 1 and hasOwnKey[operation[1]] then ownKey = takeKeys(1) end",
    test: batch,
  },
  {
    name: "what is due outlives other operations of the account",
    find: "if transition ~= forget and expire() then",
    replace: "if transition == settle and expire() then",
  },
  {
    name: "each account of a script ends many expired holds",
    find: "  budget = budget - #due\n",
    replace: "",
    test: batch,
  },
  { name: "large numbers lose digits as text", find: '"%.0f,".repeat', replace: '"%.15g,".repeat', test: batch },

  // Looks
  {
    name: "a look sees no expiry",
    find: "now < account.nextExpiry and {} or ",
    replace: "account.nextExpiry > 0 and {} or ",
  },
  {
    name: "a look does not see what an expiry charges",
    find: "endHold(hold, part, hold.held, hold.checkpoint)",
    replace: "endHold(hold, part, hold.held, 0)",
    part: "account",
  },
  {
    name: "a look misses one of a thousand",
    find: "math.min(first + mostPerRead - 1, #due)",
    replace: "math.min(first + mostPerRead - 2, #due)",
  },

  // Corrections
  {
    name: "a grant outside the bounds is not minded",
    find: "if not (open.week and open.month) then return answerAlone(${code.missedBounds}) end\n",
    replace: "",
  },
  {
    name: "a grant id serves two",
    find: "  if earlier and earlier ~= given then return answerAlone(${code.conflict}) end\n  if earlier then return answer(",
    replace: "  if earlier then return answer(",
    part: "grant",
  },
  {
    name: "a grant is not recognised again",
    find: "if earlier then return answer(${code.current}, open.session, open.week, open.month) end\n",
    replace: "",
  },
  { name: "a grant is not known afterwards", find: "write('SET', ownKey, given, 'PX', grantMemoryMs)\n", replace: "" },
  {
    name: "a grant is known for ever",
    find: "write('SET', ownKey, given, 'PX', grantMemoryMs)\n",
    replace: "write('SET', ownKey, given)\n",
  },
  {
    name: "a session that is not open takes a grant",
    find: "if not instance then return answerAlone(${code.noSession}) end\n",
    replace: "if not instance then return answer(${code.current}, open.session, open.week, open.month) end\n",
  },
  {
    name: "a bonus grows beyond what can be counted",
    find: "if math.abs(instance.bonus + amount) > maxInteger then return answerAlone(${code.tooLarge}) end\n",
    replace: "",
  },
  {
    name: "a grant to a new window is lost",
    find: "  account[name] = instance\n  instance.bonus",
    replace: "  instance.bonus",
  },
  { name: "a grant is nothing", find: "instance.bonus = instance.bonus + amount\n", replace: "" },
  {
    name: "a grant is not in the journal",
    find: "journal(id, 'grant', amount, { [name] = instance }, tags)\n",
    replace: "",
  },
  {
    name: "a grant is not counted",
    find: "  keepAccount(true)\n  return answer(${code.current}",
    replace: "  return answer(${code.current}",
  },
  { name: "a reset of nothing is in the journal", find: "instance.used > 0 and ", replace: "" },
  { name: "a window that is over is reset", find: " and now < instance.finish then", replace: " then" },
  {
    name: "a reset is not in the journal",
    find: "    journal(id, 'reset', -instance.used, { [name] = instance })\n",
    replace: "",
  },
  { name: "a reset leaves what is used", find: "    instance.used = 0\n", replace: "" },
  { name: "a reset is not counted", find: "if isChanged then keepAccount(false) end", replace: "" },
  {
    name: "a reset leaves an empty session open",
    find: "  end\n  closeEmptySession()\n",
    replace: "  end\n",
    part: "grant",
  },
  {
    name: "a grant that is taken back leaves an empty session open",
    find: "+ amount\n  closeEmptySession()\n",
    replace: "+ amount\n",
  },
  {
    name: "a session closes though something was granted to it",
    find: "and session.held == 0 and session.bonus == 0 then",
    replace: "and session.held == 0 then",
  },

  // What is forgotten
  {
    name: "an account survives",
    find: "  session = newInstance(never, never), week = newInstance(never, never), month = newInstance(never, never),\n    nextExpiry = 0,",
    replace: "  session = account.session, week = account.week, month = account.month,\n    nextExpiry = 0,",
  },
  {
    name: "when an account was forgotten is not written down",
    find: "math.max(account.wipedAt, now)",
    replace: "account.wipedAt",
  },
  {
    name: "when an account was forgotten is lost with the next write",
    find: "if account.wipedAt > never or neededBy then",
    replace: "if neededBy then",
  },
  {
    name: "a settlement of a forgotten lease is charged",
    find: "  if sessionStart <= account.wipedAt then return answerNow(${code.duplicate}) end\n",
    replace: "",
  },
  {
    name: "holds survive their account",
    find: "write('DEL', holdsKey, leasesKey, expiredKey, journalKey, prepaidKey, capsKey, ratesKey)",
    replace: "write('DEL', leasesKey, expiredKey, journalKey)",
  },
  {
    name: "leases survive their account",
    find: "write('DEL', holdsKey, leasesKey, expiredKey, journalKey, prepaidKey, capsKey, ratesKey)",
    replace: "write('DEL', holdsKey, expiredKey, journalKey)",
  },
  {
    name: "expired holds survive their account",
    find: "write('DEL', holdsKey, leasesKey, expiredKey, journalKey, prepaidKey, capsKey, ratesKey)",
    replace: "write('DEL', holdsKey, leasesKey, journalKey)",
  },
  {
    name: "the journal survives its account",
    find: "write('DEL', holdsKey, leasesKey, expiredKey, journalKey, prepaidKey, capsKey, ratesKey)",
    replace: "write('DEL', holdsKey, leasesKey, expiredKey)",
  },

  // What runs the scripts
  {
    name: "a server that has forgotten the scripts stays without",
    find: "if (isNoScript(error)) return",
    replace: "if (false) return",
    test: availability,
  },
  {
    name: "an evicting server is trusted",
    find: 'policy !== "noeviction"',
    replace: "policy === undefined",
    part: "redis-connection",
    test: availability,
  },
  {
    name: "a server that does not tell is not trusted",
    find: "if (isForbidden) return undefined;",
    replace: "",
    test: availability,
  },
  {
    name: "the processes' clocks are taken",
    find: "local now = time[1] * 1000 + math.floor(time[2] / 1000)",
    replace: "local now = tonumber(ARGV[#ARGV])",
    test: scripts,
  },
  ...recordMutations,
  ...limitMutations,
  ...fundingMutations,
  ...sweepMutations,
  ...batchMutations,
  ...responseMutations,
];
