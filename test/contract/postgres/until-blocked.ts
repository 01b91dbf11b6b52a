import type pg from "pg";
import { expect, vi } from "vitest";

/** Resolves once so many transactions wait for locks of others. */
export async function untilBlocked(pool: pg.Pool, transactions = 1): Promise<void> {
  await vi.waitFor(
    async () => expect((await pool.query("select from pg_locks where not granted")).rowCount).toBe(transactions),
    { timeout: 20_000 },
  );
}
