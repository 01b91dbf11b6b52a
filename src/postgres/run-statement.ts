import { LedgerInputError, LedgerUnavailableError } from "../ledger/credit-ledger.js";

const attempts = 5;
const firstPauseMs = 5;

/** Serialization failure, deadlock, and a key that another transaction has just inserted: the next attempt sees it. */
const transient = new Set(["40001", "40P01", "23505"]);

/**
 * Runs a statement of the ledger, again if it lost to another one. All operations are idempotent.
 * @throws LedgerInputError when the database refuses a value, else LedgerUnavailableError with the `cause`.
 */
export async function runStatement<Result>(statement: () => Promise<Result>): Promise<Result> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await statement();
    } catch (cause) {
      const code = sqlState(cause);
      if (code !== undefined && transient.has(code) && attempt < attempts) {
        await new Promise((resolve) => setTimeout(resolve, firstPauseMs * 2 ** attempt * Math.random()));
        continue;
      }
      const message = cause instanceof Error ? cause.message : String(cause);
      // Class 22: data exception.
      if (code?.startsWith("22")) throw new LedgerInputError(`PostgreSQL refused a value: ${message}`, { cause });
      throw new LedgerUnavailableError(`PostgreSQL failed: ${message}`, { cause });
    }
  }
}

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}
