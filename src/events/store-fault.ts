import { messageOf } from "../runtime/host-code.js";
import type { GatewayWarning } from "./warning.js";

const password = "it refuses the user or the password";
const permission = "its user lacks a permission";
const tables = "its user lacks a permission on the tables; give it, or call `migrate()` with a user who may make them";
const missing =
  "a table or function is missing; give its user the permission to make them, or call `migrate()` with one that may";
const readOnly = "it is read only, as a replica is";
const full = "its disk or its memory is full";
const unreachable = "nothing answers at its address";
const certificate = "its certificate is not trusted";
const file = "the file cannot be opened, or is no database";

/** What is wrong, by the codes of PostgreSQL, Node, Redis, SQLite and MySQL: some begin with them. No names are in it. */
const words: ReadonlyMap<string, string> = new Map(
  (
    [
      [password, "28P01 28000 WRONGPASS NOAUTH SASL ER_ACCESS_DENIED_ERROR"],
      [permission, "42501 NOPERM SQLITE_AUTH SQLITE_PERM"],
      ["there is no such database", "3D000 ER_BAD_DB_ERROR ER_NO_DB_ERROR"],
      ["there is no such schema; give its user the permission to make it", "3F000"],
      [tables, "ER_DBACCESS_DENIED_ERROR ER_TABLEACCESS_DENIED_ERROR"],
      [missing, "42P01 42703 42883 ER_NO_SUCH_TABLE"],
      [readOnly, "25006 READONLY SQLITE_READONLY ER_OPTION_PREVENTS_STATEMENT"],
      [full, "53100 53200 OOM MISCONF SQLITE_FULL ER_DISK_FULL ER_RECORD_FILE_FULL"],
      ["it has too many connections", "53300 ER_CON_COUNT_ERROR"],
      [unreachable, "ECONNREFUSED ENOTFOUND EAI_AGAIN ETIMEDOUT EHOSTUNREACH ENETUNREACH"],
      [certificate, "CERT_HAS_EXPIRED DEPTH_ZERO_SELF_SIGNED_CERT SELF_SIGNED_CERT_IN_CHAIN"],
      [certificate, "UNABLE_TO_VERIFY_LEAF_SIGNATURE ERR_TLS_CERT_ALTNAME_INVALID"],
      [file, "SQLITE_CANTOPEN SQLITE_NOTADB SQLITE_CORRUPT"],
    ] as const
  ).flatMap(([text, codes]) => codes.split(" ").map((code) => [code, text] as const)),
);

/** Of `node:sqlite`, by its numbers. */
const numbers: ReadonlyMap<number, string> = new Map([
  [8, "SQLITE_READONLY"],
  [11, "SQLITE_CORRUPT"],
  [13, "SQLITE_FULL"],
  [14, "SQLITE_CANTOPEN"],
  [26, "SQLITE_NOTADB"],
]);

/** An error that names its cause, and so on. */
const mostCauses = 5;

/**
 * What is wrong with a store's database, where its driver says so by a code, such as `it refuses the user or the password
 * (28P01)`. What the driver itself says may name hosts, users and passwords.
 * @returns `undefined` where it is not known.
 */
export function storeFault(cause: unknown): string | undefined {
  try {
    let error = cause;
    for (let depth = 0; depth < mostCauses && typeof error === "object" && error !== null; depth++) {
      for (const code of codesOf(error)) {
        const found = words.get(code);
        if (found !== undefined) return `${found} (${code})`;
      }
      error = (error as { cause?: unknown }).cause;
    }
  } catch {
    // A getter threw: nothing is known.
  }
  return undefined;
}

function codesOf(error: object): string[] {
  const { code, errcode } = error as { code?: unknown; errcode?: unknown };
  const sqlite = typeof errcode === "number" ? numbers.get(errcode & 0xff) : undefined;
  // Redis has no codes of its own, and a driver of PostgreSQL none for its own faults.
  const [first = ""] = messageOf(error).split(/[\s:]/, 1);
  return [sqlite ?? "", typeof code === "string" ? code : "", first];
}

/** Those of stores and of the ledger: their cause is a database's. */
const ofStores =
  /_store_failed$|^(ledger_failed|charge_lost|credits_unavailable|audit_failed|change_feed_failed)$|_dropped$|_cache_failed$/;

/** The warning, with what is wrong where that is known: its cause is for those who look at it. */
export function withStoreFault(warning: GatewayWarning): GatewayWarning {
  const { cause, code, message } = warning;
  if (cause === undefined || !ofStores.test(code)) return warning;
  const fault = storeFault(cause);
  return fault === undefined
    ? warning
    : { ...warning, message: `${message} What is wrong with its database: ${fault}.` };
}
