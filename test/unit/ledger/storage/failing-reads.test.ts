import { expect, it } from "vitest";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import type { Commit, CommitOutcome } from "../../../../src/ledger/storage/ledger-storage.js";
import { storageCreditLedger } from "../../../../src/ledger/storage/storage-credit-ledger.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { MemoryStorage } from "../../../support/ledger/storage/memory-storage.js";

/** It gives no row for what is asked. */
class PoorStorage extends MemoryStorage {
  isPoor = true;

  override async load(...asked: Parameters<MemoryStorage["load"]>): ReturnType<MemoryStorage["load"]> {
    return this.isPoor ? [] : super.load(...asked);
  }
}

/** Its commits wait until they are let go, and its reads fail when they should. */
class SlowStorage extends MemoryStorage {
  failsReads = false;
  letGo: Promise<void> = Promise.resolve();

  override async load(...asked: Parameters<MemoryStorage["load"]>): ReturnType<MemoryStorage["load"]> {
    if (this.failsReads) throw new Error("ECONNRESET");
    return super.load(...asked);
  }

  override async commit(commits: readonly Commit[]): Promise<readonly CommitOutcome[]> {
    await this.letGo;
    return super.commit(commits);
  }
}

const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 30));

function reserving(storage: MemoryStorage) {
  const ledger = storageCreditLedger(storage, { clock });
  return (id: string, account: string) => {
    const credits = { session: null, week: null, month: null };
    const limits = windowLimits({ credits, sessionMs: 3_600_000, now: clock.now() });
    return ledger.reserve({ id, account, amountMicro: 10, limits, leaseMs: 60_000 });
  };
}

it("a storage that gives less than was asked for fails its callers, and its account goes on", async () => {
  const storage = new PoorStorage(clock);
  const reserve = reserving(storage);
  await expect(reserve("1", "a")).rejects.toMatchObject({ name: "LedgerUnavailableError" });
  storage.isPoor = false;
  expect(await reserve("2", "a")).toMatchObject({ ok: true });
});

it("a read that fails says nothing of another account's commit that is under way with it", async () => {
  const storage = new SlowStorage(clock);
  const reserve = reserving(storage);
  await reserve("1", "known");

  let letGo = () => {};
  storage.letGo = new Promise((resolve) => {
    letGo = resolve;
  });
  storage.failsReads = true;
  const [known, unknown] = [reserve("2", "known"), reserve("3", "unknown")];
  let isOver = false;
  void known.finally(() => {
    isOver = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) => setImmediate(resolve));
  expect(isOver).toBe(false);
  letGo();
  await expect(unknown).rejects.toMatchObject({ name: "LedgerUnavailableError" });
  expect(await known).toMatchObject({ ok: true });
});
