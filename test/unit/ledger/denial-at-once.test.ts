import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { denialIn, reserveIn, settleIn } from "../../../src/ledger/at-once.js";
import { capBounds, windowLimits } from "../../../src/ledger/calendar.js";
import type { Lease, ReserveRequest } from "../../../src/ledger/credit-ledger.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";

const start = Date.UTC(2026, 2, 11);
const minuteMs = 60_000;

/** What happens to a ledger: a call is made, one ends, credits are bought, or time passes. */
type Step =
  | {
      readonly does: "reserve";
      readonly amountMicro: number;
      readonly take: number;
      readonly named: boolean;
      readonly plan: 0 | 1;
    }
  | { readonly does: "settle"; readonly index: number; readonly amountMicro: number }
  | { readonly does: "buy"; readonly amountMicro: number }
  | { readonly does: "wait"; readonly ms: number };

const amount = fc.constantFrom(0, 1, 30, 99, 100, 250);
const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 5,
    arbitrary: fc.record({
      does: fc.constant("reserve" as const),
      amountMicro: amount,
      take: fc.constantFrom(0, 1, 40, 1000),
      named: fc.boolean(),
      plan: fc.constantFrom(0 as const, 1 as const),
    }),
  },
  { weight: 3, arbitrary: fc.record({ does: fc.constant("settle" as const), index: fc.nat(20), amountMicro: amount }) },
  { weight: 1, arbitrary: fc.record({ does: fc.constant("buy" as const), amountMicro: fc.constantFrom(1, 50) }) },
  {
    weight: 2,
    arbitrary: fc.record({ does: fc.constant("wait" as const), ms: fc.constantFrom(1, 999, 20_000, 700_000) }),
  },
);

const plans = [
  { session: 100, week: 300, month: null },
  { session: 0, week: null, month: 1000 },
] as const;

function requestOf(
  id: string,
  { amountMicro, take, named, plan }: Extract<Step, { does: "reserve" }>,
  now: number,
): ReserveRequest {
  const limits = windowLimits({ credits: plans[plan], sessionMs: 10 * minuteMs, now });
  const request = { id, account: "acct_1", amountMicro, limits, leaseMs: minuteMs };
  if (!named) return request;
  const cap = { id: "key/day", window: "day" as const, limitMicro: 120, bounds: capBounds("day", undefined, now) };
  const rate = { limit: 100, burst: 100 };
  return {
    ...request,
    caps: [cap],
    rates: [
      { id: "key/tokens", kind: "tokens", take, ...rate },
      { id: "key/requests", kind: "requests", take: 1, limit: 3, burst: 3 },
      { id: "key/concurrent", kind: "concurrent", take: 1, limit: 2, burst: 2 },
    ],
  };
}

const withoutSize = (request: ReserveRequest): ReserveRequest => ({
  ...request,
  amountMicro: 0,
  ...(request.rates && { rates: request.rates.map((rate) => ({ ...rate, take: rate.kind === "tokens" ? 0 : 1 })) }),
});

describe("what a reservation would be denied with", () => {
  it("is what it is denied with then, whatever it asks for, and changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        let now = start;
        const clock = { now: () => now };
        const [asked, plain] = [memoryCreditLedger({ clock }), memoryCreditLedger({ clock })];
        const leases: Lease[] = [];
        for (const [index, each] of steps.entries()) {
          if (each.does === "wait") now += each.ms;
          else if (each.does === "buy") {
            for (const ledger of [asked, plain]) {
              await ledger.topUp?.({ id: `buy_${index}`, account: "acct_1", amountMicro: each.amountMicro });
            }
          } else if (each.does === "settle") {
            const lease = leases[each.index];
            if (lease === undefined) continue;
            const [one, other] = [asked, plain].map((ledger) =>
              settleIn(ledger, lease, { amountMicro: each.amountMicro }),
            );
            expect(one).toEqual(other);
          } else {
            const request = requestOf(`req_${index}`, each, now);
            const denial = denialIn(asked, withoutSize(request));
            const [one, other] = [asked, plain].map((ledger) => reserveIn(ledger, request));
            expect(one).toEqual(other);
            if (one === undefined || one instanceof Promise) throw new Error("not at once");
            expect(denial).toEqual(one.ok ? undefined : one);
            if (one.ok) leases.push(one.lease);
          }
        }
      }),
    );
  });

  it("is not known where the host has put another method in the place of the ledger's own", () => {
    const request = requestOf("req_1", { does: "reserve", amountMicro: 1, take: 1, named: false, plan: 1 }, start);
    const ledger = memoryCreditLedger({ clock: { now: () => start } });
    expect(denialIn(ledger, request)).toMatchObject({ ok: false });
    expect(denialIn({ ...ledger }, request)).toBeUndefined();
    expect(denialIn(Object.assign(ledger, { reserve: vi.fn() }), request)).toBeUndefined();
  });
});
