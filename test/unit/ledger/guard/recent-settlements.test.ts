import fc from "fast-check";
import { expect, it } from "vitest";
import type { CreditLedger, Lease, Settlement } from "../../../../src/ledger/credit-ledger.js";
import { RecentSettlements } from "../../../../src/ledger/guard/recent-settlements.js";
import { TimeLimit } from "../../../../src/ledger/guard/time-limit.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { eventually } from "../../../../src/testing/expect.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";

const rememberMs = 10_000;

/** Of which the replay takes the id and the account only. */
function leaseOf(id: number): Lease {
  const times = { session: 0, week: 0, month: 0 };
  const limits = {} as Lease["limits"];
  return { id: `r${id}`, account: "a", amountMicro: 1, expiresAt: 0, starts: times, ends: times, limits };
}

it("sends again what was settled in the last seconds, each with its own amount and time", async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(fc.nat(900), fc.nat(8_000)), { minLength: 1, maxLength: 12 }),
      async (bursts) => {
        const clock = new ManualClock(1_000_000);
        const sent: [id: string, amount: number, since: number | undefined][] = [];
        const settle = async ({ id }: Lease, { amountMicro, mayBeDuplicateSince }: Settlement) => {
          sent.push([id, amountMicro, mayBeDuplicateSince]);
          return { status: "duplicate", windows: {} };
        };
        const ledger = { ...memoryCreditLedger(), settle } as unknown as CreditLedger;
        const limit = new TimeLimit(1_000);
        let isReplayed = false;
        const emit = () => {
          isReplayed = true;
        };
        const onAnswer = { succeeded: () => {}, failed: () => {} };
        const recent = new RecentSettlements({ ledger, limit, clock, emit, onAnswer, rememberMs });
        const all: { line: [string, number, number]; at: number }[] = [];
        for (const [count, pauseMs] of bursts) {
          for (let index = 0; index < count; index++) {
            const [id, sentAt] = [all.length, clock.now() - (index % 7)];
            recent.add(leaseOf(id), { amountMicro: id * 3 }, sentAt);
            all.push({ line: [`r${id}`, id * 3, sentAt], at: clock.now() });
          }
          clock.advance(pauseMs);
        }
        const due = all.filter(({ at }) => at >= clock.now() - rememberMs).map(({ line }) => line);
        recent.replay(clock.now());
        if (due.length > 0) await eventually(() => expect(isReplayed).toBe(true));
        expect(sent).toEqual(due);
        await recent.close(0);
        limit.close();
      },
    ),
    { numRuns: 40 },
  );
});
