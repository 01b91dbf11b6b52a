import type { Mutation } from "../mutation/mutation.js";
import { bookMutations } from "./book-mutations.js";
import { catalogMutations } from "./catalog-mutations.js";
import { limitMutations } from "./limit-mutations.js";
import { responseMutations } from "./response-mutations.js";
import { usageMutations } from "./usage-mutations.js";

const faults = "faults";
const killed = "killed";
const locked = "locked";
const lockQueue = "lock-queue";
const migrate = "migrate";
const processes = "processes";
const retention = "retention";

export const mutations: readonly Mutation[] = [
  ...bookMutations,
  // Accounts
  { name: "a bonus is lost", find: "  instance.bonus = toNumber(", replace: "  void (" },
  { name: "what is held is lost", find: "  instance.held = toNumber(", replace: "  void (" },
  { name: "what is used is lost", find: "  instance.used = toNumber(", replace: "  void (" },

  // Reservations
  {
    name: "an id reserves again",
    find: "const earlier = this.#reservations.get(id);",
    replace: "const earlier = undefined as StoredReservation | undefined;",
  },
  {
    name: "an id reserves two amounts",
    find: "      requireSame(id, earlier.receipt, { account: accountId, amountMicro });\n",
    replace: "",
  },
  {
    name: "more is held than can be counted",
    find: "if (!canHold(open, amountMicro) || (hasPart",
    replace: "if ((hasPart",
  },
  {
    name: "a reservation holds nothing",
    find: "      addHold(account, receipt, ofPlan);\n",
    replace: "",
  },
  {
    name: "a hold never expires",
    find: "    account.nextExpiry = Math.min(account.nextExpiry ?? receipt.expiresAt, receipt.expiresAt);\n",
    replace: "",
  },
  {
    name: "an earlier hold expires with a later one",
    find: "account.nextExpiry = Math.min(account.nextExpiry ?? receipt.expiresAt, receipt.expiresAt);",
    replace: "account.nextExpiry = receipt.expiresAt;",
  },
  {
    name: "a hold is not kept",
    find: "    this.#reservations.hold({ id, receipt, limits, part });\n",
    replace: "",
  },
  {
    name: "a reservation is not counted",
    find: "    this.#accounts.put(account);\n    const lease",
    replace: "    const lease",
  },

  // Renewals
  { name: "an ended id is renewed", find: '!reservation || reservation.state === "ended"', replace: "!reservation" },
  {
    name: "a hold of another account or amount is renewed",
    find: "    requireSame(id, receipt, lease);\n    const checkpoint",
    replace: "    const checkpoint",
  },
  { name: "a checkpoint falls", find: "Math.max(reservation.checkpoint, observedMicro)", replace: "observedMicro" },
  { name: "a lease is shortened", find: "Math.max(reservation.expiresAt, now + leaseMs)", replace: "now + leaseMs" },
  { name: "a renewal holds nothing more", find: "addHold(account, receipt, rise);\n", replace: "void addHold;\n" },
  {
    name: "a renewal is not counted",
    find: "expiredPart(part));\n    }\n    this.#accounts.put(account);\n",
    replace: "expiredPart(part));\n    }\n",
  },
  {
    name: "a renewal after the expiry charges nothing",
    find: "rise === 0 ? 0 : this.#book.endHold(account, reservation, ending, now);",
    replace: "rise === 0 ? 0 : ending.held;",
  },
  {
    name: "a renewal after the expiry of nothing is in the journal",
    find: "    if (rise === 0) return;\n",
    replace: "",
  },
  {
    name: "a renewal after the expiry is not counted",
    find: "    this.#book.writeCheckpoint(account, reservation, { amountMicro: rise, prepaidMicro }, now);\n    this.#accounts.put(account);",
    replace: "    this.#book.writeCheckpoint(account, reservation, { amountMicro: rise, prepaidMicro }, now);",
  },
  {
    name: "a renewal after the expiry charges again and again",
    find: "    this.#reservations.raiseCheckpoint(id, { checkpoint, paid: paid + prepaidMicro }, now);\n",
    replace: "",
  },

  // Settlements
  {
    name: "a settlement is not counted",
    find: 'if (settled.status !== "duplicate") this.#accounts.put(account);',
    replace: "",
  },
  {
    name: "a settlement is not recognised again",
    find: '    if (state === "ended") return settledAs("duplicate", reservation.paid);\n',
    replace: "",
  },
  {
    name: "a hold of another account or amount is settled",
    find: "    requireSame(id, receipt, lease);\n    if (state",
    replace: "    if (state",
  },
  { name: "a late charge counts twice", find: "[0, reservation.checkpoint]", replace: "[0, 0]" },
  {
    name: "an expired hold is given back twice",
    find: "[0, reservation.checkpoint]",
    replace: "[reservation.held, reservation.checkpoint]",
  },
  {
    name: "a settlement gives nothing back",
    find: "const ending = { held, charge: amount,",
    replace: "const ending = { held: held - held, charge: amount,",
  },
  {
    name: "a settlement charges nothing",
    find: "const ending = { held, charge: amount,",
    replace: "const ending = { held, charge: amount - amount,",
  },
  {
    name: "a settled hold stays",
    find: "    this.#reservations.end(reservation, { kind, at: now, sequence: ++account.sequence, amount, prepaid, paid, tags });\n",
    replace: "    void [kind, ++account.sequence, tags];\n",
  },
  {
    name: "what was forgotten is charged again",
    find: "if (Math.min(mayBeDuplicateSince, expiresAt) < this.#retention.forgottenUntil) {",
    replace: "if (false) {",
    test: retention,
  },
  {
    name: "what died and was forgotten is charged again",
    find: "Math.min(mayBeDuplicateSince, expiresAt) <",
    replace: "mayBeDuplicateSince <",
    test: retention,
  },
  {
    name: "what was settled and forgotten is charged again",
    find: "Math.min(mayBeDuplicateSince, expiresAt) <",
    replace: "expiresAt <",
    test: retention,
  },
  {
    name: "an unknown id is charged nothing",
    find: "const prepaid = this.#book.endHold(account, unknown, ending, now);",
    replace: "const prepaid = ending.held;",
  },
  {
    name: "an unknown id is charged again and again",
    find: "    this.#reservations.insertEnded(unknown,",
    replace: "    void (unknown,",
  },

  // Expiry
  {
    name: "no hold expires",
    find: "const isDue = account.nextExpiry !== null && account.nextExpiry <= now;",
    replace: "const isDue = false as boolean;",
  },
  {
    name: "a hold outlives its lease",
    find: "const isDue = account.nextExpiry !== null && account.nextExpiry <= now;",
    replace: "const isDue = account.nextExpiry !== null && account.nextExpiry < now;",
  },
  {
    name: "an expiry charges nothing",
    find: "this.endHold(account, hold, expiryOf(hold), now);",
    replace: "this.endHold(account, hold, { ...expiryOf(hold), charge: 0 }, now);",
  },
  {
    name: "an expiry of nothing is in the journal",
    find: "      if (checkpoint === 0) continue;\n",
    replace: "",
  },
  {
    name: "an expiry is not in the journal",
    find: "      if (checkpoint === 0) continue;\n",
    replace: "      if (checkpoint >= 0) continue;\n",
  },
  { name: "a hold expires again and again", find: "    this.#reservations.expireDue(account.id, now);\n", replace: "" },
  {
    name: "the next expiry is missed",
    find: "    account.nextExpiry = this.#reservations.nextExpiry(account.id);\n",
    replace: "    account.nextExpiry = null;\n",
  },
  {
    name: "an expiry alone is not counted",
    find: "if (isDue || hasLapsed) this.#accounts.put(account);",
    replace: "if (hasLapsed) this.#accounts.put(account);",
  },
  { name: "holds that die at once have no order", find: ".sort(byExpiry)", replace: "" },
  {
    name: "holds that are due are not found",
    find: "AND expires_at <= ?`);",
    replace: "AND expires_at < ?`);",
  },
  {
    name: "more holds expire than are due",
    find: "AND expires_at <= ?`,\n    );\n    this.#pay =",
    replace: "AND expires_at <= ? + 600000`,\n    );\n    this.#pay =",
  },
  {
    name: "holds of other accounts expire",
    find: '"account = ? AND at IS NULL"',
    replace: '"account >= ? AND at IS NULL"',
  },
  {
    name: "an expired hold is read as open",
    find: 'kind === "hold" || kind === "expired" ? kind : "ended"',
    replace: 'kind === "hold" || kind === "expired" ? "hold" : "ended"',
  },
  {
    name: "an ended hold is read as expired",
    find: 'kind === "hold" || kind === "expired" ? kind : "ended"',
    replace: 'kind === "hold" ? kind : "expired"',
  },
  {
    name: "a look sees no expiry",
    find: "if (account.nextExpiry !== null && account.nextExpiry <= now) {",
    replace: "if (false) {",
  },
  {
    name: "a look does not see what an expiry charges",
    find: ") endHold(account, hold, expiryOf(hold), now);",
    replace: ") endHold(account, hold, { ...expiryOf(hold), charge: 0 }, now);",
  },

  // Corrections
  {
    name: "a grant is not recognised again",
    find: "const earlier = this.#journal.grant(id);",
    replace: 'const earlier = undefined as ReturnType<JournalTable["grant"]>;',
  },
  {
    name: "a grant id serves two accounts or amounts",
    find: "      requireSame(id, earlier, { account: accountId, amountMicro });\n      if (earlier.window",
    replace: "      if (earlier.window",
  },
  {
    name: "a grant id serves two windows",
    find: "      if (earlier.window !== window) throw",
    replace: "      if (false) throw",
  },
  {
    name: "a bonus grows beyond what can be counted",
    find: "if (!Number.isSafeInteger(bonus)) {",
    replace: "if (false) {",
  },
  { name: "a grant is nothing", find: "    instance.bonus = bonus;\n", replace: "" },
  { name: "a grant to a new window is lost", find: "    account[window] = instance;\n", replace: "" },
  {
    name: "a grant is not counted",
    find: "    this.#accounts.put(account);\n    return currentStates(account, limits, now);\n  }\n\n  reset",
    replace: "    return currentStates(account, limits, now);\n  }\n\n  reset",
  },
  {
    name: "a reset of nothing is in the journal",
    find: "if (used === 0 || end <= now) continue;",
    replace: "if (end <= now) continue;",
  },
  {
    name: "a window that is over is reset",
    find: "if (used === 0 || end <= now) continue;",
    replace: "if (used === 0) continue;",
  },
  { name: "a reset leaves what is used", find: "      account[window].used = 0;\n", replace: "" },
  {
    name: "a reset leaves an empty session open",
    find: "    closeEmptySession(account);\n    if (account.sequence",
    replace: "    if (account.sequence",
  },
  {
    name: "a grant that is taken back leaves an empty session open",
    find: "    closeEmptySession(account);\n    const tags",
    replace: "    const tags",
  },
  {
    name: "a reset stores an account that nobody knows",
    find: "if (account.sequence > 0) this.#accounts.put(account);",
    replace: "this.#accounts.put(account);",
    test: retention,
  },
  { name: "a reset is not counted", find: "if (account.sequence > 0) this.#accounts.put(account);", replace: "" },

  // Journal
  { name: "an entry has no place of its own", find: "    account.sequence++;\n", replace: "" },
  { name: "two entries of an id are one", find: "SELECT max(part) AS part", replace: "SELECT 0 AS part" },
  { name: "what is no entry is in the journal", find: " AND sequence IS NOT NULL $", replace: " $" },
  {
    name: "the journal shows all accounts",
    find: "WHERE account = ? AND at >= ? AND (at",
    replace: "WHERE account >= ? AND at >= ? AND (at",
  },
  {
    name: "the journal begins late",
    find: "WHERE account = ? AND at >= ? AND (at",
    replace: "WHERE account = ? AND at > ? AND (at",
  },
  {
    name: "a page repeats the last entry",
    find: "(at, sequence) < (?, ?)",
    replace: "(at, sequence) <= (?, ?)",
    part: "journal-table",
  },
  {
    name: "the oldest comes first",
    find: "ORDER BY at DESC, sequence DESC",
    replace: "ORDER BY at, sequence",
    part: "journal-table",
  },
  {
    name: "a cursor leads beyond the end",
    find: ": earlier(parseCursor(cursor), end);",
    replace: ": parseCursor(cursor);",
  },

  // Transactions
  {
    name: "writers begin as readers",
    find: 'database.exec("BEGIN IMMEDIATE")',
    replace: 'database.exec("BEGIN")',
    test: processes,
  },
  {
    name: "nobody waits for another's lock",
    find: "        if (!isLocked(error)) throw error;\n",
    replace: "        throw error;\n",
    test: locked,
  },
  {
    name: "the process waits for another's lock",
    find: '    database.exec("PRAGMA busy_timeout = 0");\n',
    replace: "",
    test: locked,
  },
  {
    name: "a lock is waited for for ever",
    find: "if (!isFree && performance.now() < until) break;",
    replace: "if (!isFree) break;",
    test: locked,
  },
  {
    name: "who comes later goes first",
    find: "    if (this.#waiting.length === 0) {\n",
    replace: "    {\n",
    test: lockQueue,
  },
  {
    name: "what comes as the last one ends waits for ever",
    find: "    this.#draining = undefined;\n",
    replace: "    queueMicrotask(() => {\n      this.#draining = undefined;\n    });\n",
    test: lockQueue,
  },
  {
    name: "those that wait go without a break",
    find: "const worksPerTurn = 64;",
    replace: "const worksPerTurn = 10_000;",
    test: lockQueue,
  },
  {
    name: "a driver leaves a statement unfinished",
    find: 'this.#database.exec("BEGIN IMMEDIATE");',
    replace: 'this.#database.prepare("BEGIN IMMEDIATE").run();',
    test: locked,
  },
  {
    name: "a failed operation is kept in part",
    find: "    this.#tryRollback();\n  }\n\n  /** After",
    replace: "    this.#commit.run();\n  }\n\n  /** After",
    test: faults,
  },
  {
    name: "a commit that fails leaves its transaction open",
    find: "      this.#tryRollback();\n      throw error;\n    }\n    this.#tryRollback();",
    replace: "      throw error;\n    }\n    this.#tryRollback();",
    test: faults,
  },
  {
    name: "a refusal takes back what has expired",
    find: "this.#end(isLedgerError(error));",
    replace: "this.#end(false);",
    test: retention,
  },
  {
    name: "a look leaves its transaction open",
    find: "      return read();\n    } finally {\n      this.#tryRollback();\n    }",
    replace: "      return read();\n    } finally {\n    }",
  },
  {
    name: "an operation is two transactions",
    find: '    this.#database.exec("BEGIN IMMEDIATE");\n',
    replace: "",
    test: killed,
  },
  {
    name: "tables are made twice",
    find: "versions.slice(versionOf(connection, versions.length))",
    replace: "versions",
    test: migrate,
  },
  {
    name: "a newer release's tables are used",
    find: "if (version <= newest) return version;",
    replace: "return version;",
    test: migrate,
  },
  {
    name: "tables are made in several transactions",
    find: "  connection.transaction(() => {\n    connection.exec",
    replace: "  (() => {\n    connection.exec",
    test: migrate,
  },

  // Retention
  {
    name: "what was deleted is not noted",
    find: "if (until > this.forgottenUntil) this.#putHorizon.run(until);",
    replace: "",
    test: retention,
  },
  {
    name: "what was deleted is known again when the clock goes back",
    find: "if (until > this.forgottenUntil) this.#putHorizon.run(until);",
    replace: "this.#putHorizon.run(until);",
    test: retention,
  },
  {
    name: "entries are deleted too early",
    find: "at < ? AND (part",
    replace: "at <= ? AND (part",
    test: retention,
  },
  {
    name: "nothing is deleted",
    find: "if (this.#settlements % settlementsPerPurge === 0) this.#purge(lease.account, now);",
    replace: "",
    test: retention,
  },
  {
    name: "idle accounts keep what is old",
    find: "    this.#retention.purge(next, now);\n",
    replace: "",
    test: retention,
  },
  { name: "holds survive their account", find: "    this.#deleteHolds.run(accountId);\n", replace: "" },
  {
    name: "the counts survive their account",
    find: "    this.#accounts.put({ ...newAccount(accountId), sequence: account.sequence });\n",
    replace: "",
    test: retention,
  },
  {
    name: "a new account's entries are forgotten with the old one's",
    find: "sequence <= ? LIMIT",
    replace: "(sequence <= ? OR true) LIMIT",
    test: retention,
  },
  {
    name: "a new account is forgotten with the old one",
    find: "if (isUntouched) this.#accounts.delete(accountId);",
    replace: "this.#accounts.delete(accountId);",
    test: retention,
  },
  {
    name: "the account's row stays",
    find: "if (isUntouched) this.#accounts.delete(accountId);",
    replace: "",
    test: retention,
  },

  // Keys and plans
  {
    name: "two keys have one hash",
    find: " ON CONFLICT DO NOTHING RETURNING id",
    replace: " ON CONFLICT DO UPDATE SET name = name RETURNING id",
  },
  {
    name: "a key that is not there is updated",
    find: "        if (key === undefined) return undefined;\n",
    replace: "",
  },
  {
    name: "another account's keys are listed",
    find: "} account = ?`",
    replace: "} account >= ?`",
  },
  {
    name: "another account's keys are forgotten",
    find: "DELETE FROM infergate_key WHERE account = ? RETURNING",
    replace: "DELETE FROM infergate_key WHERE account >= ? RETURNING",
  },
  // Accounts
  {
    name: "a change of plan lifts a suspension",
    find: "save(applyAccountPut(account, get(account.id)))",
    replace: "save(account)",
  },
  {
    name: "an account that is not there is updated",
    find: "        if (account === undefined) return undefined;\n",
    replace: "",
  },
  {
    name: "an account is listed twice",
    find: "infergate_account_record WHERE id > ? ORDER BY id LIMIT ?",
    replace: "infergate_account_record WHERE id >= ? ORDER BY id LIMIT ?",
  },
  {
    name: "accounts are listed in no order",
    find: "infergate_account_record WHERE id > ? ORDER BY id LIMIT ?",
    replace: "infergate_account_record WHERE id > ? ORDER BY plan, id DESC LIMIT ?",
  },
  {
    name: "other accounts are forgotten",
    find: "DELETE FROM infergate_account_record WHERE id = ?",
    replace: "DELETE FROM infergate_account_record WHERE id >= ?",
  },
  {
    name: "a settlement of a forgotten lease is charged",
    find: 'if (isForgottenLease(lease, this.#forgotten.at(accountId))) return settledAs("duplicate", 0);',
    replace: "",
  },
  {
    name: "an expired hold outlives its account",
    find: "WHERE account = ? AND sequence IS NULL",
    replace: "WHERE account = ? AND at IS NULL",
  },
  {
    name: "when an account was forgotten is not written down",
    find: "      this.#forgotten.add(account, now);\n",
    replace: "",
  },
  { name: "when it was is kept for ever", find: "    this.#forgotten.purge(now);\n", replace: "", test: retention },
  ...catalogMutations,
  ...limitMutations,
  ...responseMutations,
  ...usageMutations,
];
