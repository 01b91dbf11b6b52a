import type { Mutation } from "../../meta/mutation/mutation.js";
import { bookMutations } from "./book-mutations.js";
import { limitMutations } from "./limit-mutations.js";
import { recordMutations } from "./record-mutations.js";
import { responseMutations } from "./response-mutations.js";
import { usageMutations } from "./usage-mutations.js";

const faults = "faults";
const killed = "killed";
const ledgerBatch = "ledger-batch";
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

  {
    name: "an account that has changed is not written",
    find: "    for (const account of this.#changed) this.#tables.accounts.put(account);\n",
    replace: "",
  },
  {
    name: "an operation does not see what those before it have done",
    find: "    if (known !== undefined) return known;\n",
    replace: "",
    part: "sqlite-records",
    test: ledgerBatch,
  },
  {
    name: "what a failed transaction has changed is written with the next",
    find: "    this.#drop();\n    const result = work();\n    this.flush();",
    replace: "    const result = work();\n    this.flush();",
    test: ledgerBatch,
  },

  // Reservations
  { name: "a hold is not kept", find: "    this.#tables.reservations.hold(reservation);\n", replace: "" },
  { name: "a renewal is not kept", find: "this.#tables.reservations.renew(reservation);", replace: "return;" },
  {
    name: "a renewal after the expiry charges again and again",
    find: "else this.#tables.reservations.renewExpired(reservation, now);",
    replace: "else void now;",
  },
  {
    name: "a settled hold stays",
    find: "    this.#tables.reservations.end(reservation, end, sequence);\n",
    replace: "    void [end, sequence];\n",
  },
  {
    name: "an unknown id is charged again and again",
    find: "this.#tables.reservations.insertEnded(reserved, end,",
    replace: "void (reserved, end,",
  },
  {
    name: "what was settled and forgotten is charged again",
    find: "get endsKnownFrom(): number {\n    return this.#tables.retention.forgottenUntil;",
    replace: "get endsKnownFrom(): number {\n    return 0;",
    test: retention,
  },
  {
    name: "what died and was forgotten is charged again",
    find: "get expiriesKnownFrom(): number {\n    return this.#tables.retention.forgottenUntil;",
    replace: "get expiriesKnownFrom(): number {\n    return 0;",
    test: retention,
  },

  // Expiry
  {
    name: "no hold expires",
    find: "if (account.nextExpiry === null || account.nextExpiry > now) return [];",
    replace: "if (now > 0) return [];",
  },
  {
    name: "a hold outlives its lease",
    find: "account.nextExpiry === null || account.nextExpiry > now",
    replace: "account.nextExpiry === null || account.nextExpiry >= now",
  },
  {
    name: "an earlier hold expires with a later one",
    find: "account.nextExpiry = Math.min(account.nextExpiry ?? expiresAt, expiresAt);",
    replace: "account.nextExpiry = expiresAt;",
  },
  {
    name: "the next expiry is missed",
    find: "account.nextExpiry = this.#tables.reservations.nextExpiry(account.id);",
    replace: "account.nextExpiry = null;",
  },
  {
    name: "a hold expires again and again",
    find: "    for (const reservation of reservations) this.#tables.reservations.expire(reservation, now);\n",
    replace: "    void [reservations, now];\n",
  },
  {
    name: "holds that are due are not found",
    find: "AND expires_at <= ?`);",
    replace: "AND expires_at < ?`);",
  },
  {
    name: "more holds expire than are due",
    find: "AND expires_at <= ?`);",
    replace: "AND expires_at <= ? + 600000`);",
  },
  {
    name: "holds of other accounts expire",
    find: '"account = ? AND at IS NULL"',
    replace: '"account >= ? AND at IS NULL"',
  },
  {
    name: "an ended hold is read as expired",
    find: 'if (kind !== "hold" && kind !== "expired") return',
    replace: 'if (kind === "never") return',
  },

  // Journal
  { name: "an entry has no place of its own", find: "return ++account.sequence;", replace: "return account.sequence;" },
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
    find: "      this.#tryRollback();\n      throw error;",
    replace: "      this.#commit.run();\n      throw error;",
    test: faults,
  },
  {
    name: "a commit that fails leaves its transaction open",
    find: "      this.#tryRollback();\n      throw error;",
    replace: "      throw error;",
    test: faults,
  },
  {
    name: "a refusal takes back what has expired",
    find: "    return { refusal: error };",
    replace: "    throw error;",
    test: retention,
  },
  {
    name: "what fails by itself takes those of its turn with it",
    find: "if (some.length === 1 || isLocked(error)) return",
    replace: "return",
    test: ledgerBatch,
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

  {
    name: "a settlement of a forgotten lease is charged",
    find: "return this.#tables.forgotten.at(account);",
    replace: "return Number.NEGATIVE_INFINITY;",
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
  ...recordMutations,
  ...limitMutations,
  ...responseMutations,
  ...usageMutations,
];
