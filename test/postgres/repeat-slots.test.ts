import { afterEach, beforeEach, expect, it, vi } from "vitest";
import type { AccountBatch } from "../../src/postgres/batching/account-batch.js";
import type { RepeatedStatements } from "../../src/postgres/batching/repeated-statements.js";
import type { LedgerAnswer } from "../../src/postgres/ledger-answer.js";

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

it("repetitions that were lost themselves do not keep later statements from theirs", async () => {
  vi.resetModules();
  const { RepeatedStatements: Fresh } = (await import("../../src/postgres/batching/repeated-statements.js")) as {
    RepeatedStatements: typeof RepeatedStatements;
  };
  let sent = 0;
  // The first four connections of the pool have died without a word.
  const statements = new Fresh(() => (++sent <= 4 ? new Promise(() => {}) : Promise.resolve([{} as LedgerAnswer])));
  const batches: AccountBatch[] = [{ account: "acct_a", operations: [] }];
  const first = statements.run(batches).catch((error: Error) => error.name);
  await vi.advanceTimersByTimeAsync(31_000);
  expect([await first, sent]).toEqual(["LedgerUnavailableError", 3]);
  const second = statements.run(batches).then(
    () => "answered",
    (error: Error) => error.name,
  );
  await vi.advanceTimersByTimeAsync(31_000);
  expect(await second).toBe("answered");
});
