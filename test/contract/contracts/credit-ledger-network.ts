import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { expect } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { type CreditLedger, LedgerUnavailableError } from "../../../src/ledger/credit-ledger.js";
import type { FaultyProxy } from "../../support/faulty-proxy.js";

const hour = 3_600_000;
const inFlight = 16;
const spends = 10;

/**
 * Spends through a proxy that breaks connections, repeating what failed, and looks whether the books balance: everything was
 * charged once.
 */
export async function spendThrough(proxy: FaultyProxy, ledger: CreditLedger): Promise<void> {
  const unhandled: unknown[] = [];
  const note = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", note);
  const limits = () =>
    windowLimits({ credits: { session: null, week: null, month: null }, sessionMs: 5 * hour, now: Date.now() });
  const accounts = ["hot", "cold"].map((name) => `${name}-${randomUUID()}`) as [string, string];
  const charged = new Map(accounts.map((account) => [account, 0]));

  async function insist<Answer>(attempt: () => Promise<Answer>): Promise<Answer> {
    for (;;) {
      try {
        return await attempt();
      } catch (error) {
        expect(error).toBeInstanceOf(LedgerUnavailableError);
        await sleep(5);
      }
    }
  }

  async function spend(account: string, amount: number): Promise<void> {
    const request = { id: randomUUID(), account, amountMicro: amount, limits: limits(), leaseMs: 60_000 };
    const result = await insist(() => ledger.reserve(request));
    if (!result.ok) throw new Error("Nothing is limited here.");
    const { lease } = result;
    await insist(() => ledger.renew([{ lease, observedMicro: 1, leaseMs: 60_000 }]));
    const mayBeDuplicateSince = Date.now();
    const { status } = await insist(() => ledger.settle(lease, { amountMicro: amount - 1, mayBeDuplicateSince }));
    expect(["settled", "duplicate"]).toContain(status);
    charged.set(account, (charged.get(account) ?? 0) + amount - 1);
  }

  try {
    await Promise.all(
      Array.from({ length: inFlight }, async (_, caller) => {
        for (let turn = 0; turn < spends; turn++) await spend(accounts[caller % 4 === 0 ? 1 : 0], 2 + turn + caller);
      }),
    );
    proxy.heal();
    for (const [account, used] of charged) {
      const { windows } = await insist(() => ledger.balance(account, limits()));
      for (const window of Object.values(windows)) expect(window).toMatchObject({ usedMicro: used, heldMicro: 0 });
      const page = await insist(async () => ledger.history?.({ account, limit: 1_000 }));
      const ids = page?.entries.map(({ id }) => id) ?? [];
      expect(new Set(ids).size).toBe(ids.length);
      expect(page?.entries.reduce((sum, { amountMicro }) => sum + amountMicro, 0)).toBe(used);
    }
    expect(proxy.connections).toBeGreaterThan(3);
    expect(unhandled).toEqual([]);
  } finally {
    process.off("unhandledRejection", note);
  }
}
