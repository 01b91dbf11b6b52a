import { describe, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { type Lease, LedgerConflictError } from "../../../src/ledger/credit-ledger.js";
import { LedgerEngine } from "../../../src/ledger/engine/ledger-engine.js";
import { claimTopUp } from "../../../src/ledger/engine/ledger-records.js";
import { MemoryRecords } from "../../../src/stores/memory/memory-records.js";

const minute = 60_000;
const start = Date.UTC(2026, 2, 11, 9, 30);
const limits = windowLimits({
  credits: { session: null, week: null, month: null },
  sessionMs: 60 * minute,
  now: start,
});

function setUp(Records: typeof MemoryRecords = MemoryRecords) {
  const records = new Records(10, 100);
  const engine = new LedgerEngine(records);
  const admit = (id: string): Lease => {
    const result = engine.reserve({ id, account: "a", amountMicro: 10, limits, leaseMs: minute }, start);
    if (!result.ok) throw new Error("Nothing is limited here.");
    return result.lease;
  };
  return { engine, records, admit };
}

describe("the engine", () => {
  it("ends what expires at the same moment in the order of its ids", () => {
    const { engine, records, admit } = setUp();
    for (const [cost, id] of ["c", "a", "b", "d"].entries()) {
      engine.renew({ lease: admit(id), observedMicro: cost + 1, leaseMs: minute }, start);
    }
    expect(engine.endExpired("a", start + minute - 1)).toBe(0);
    expect(engine.endExpired("a", start + minute)).toBe(4);
    const { entries } = records.journal.read({ account: "a" });
    expect(entries.map(({ id, amountMicro }) => [id, amountMicro]).reverse()).toEqual([
      ["a", 2],
      ["b", 3],
      ["c", 1],
      ["d", 4],
    ]);
    expect(engine.endExpired("nobody", start)).toBe(0);
  });

  it("gives the id of a top-up to the account that has it, though nobody claimed it", () => {
    const { engine, records } = setUp();
    engine.topUp({ id: "payment", account: "a", amountMicro: 5 }, start);
    expect(() => claimTopUp(records, "payment", "b", start)).toThrow(LedgerConflictError);
    claimTopUp(records, "payment", "a", start);
    claimTopUp(records, "other", "b", start);
    expect(() => claimTopUp(records, "other", "a", start)).toThrow(LedgerConflictError);
  });

  it.each([
    { since: undefined, lapseMs: 0, status: "recovered" },
    { since: start, lapseMs: 0, status: "recovered" },
    { since: start - 1, lapseMs: 0, status: "unresolved" },
    { since: undefined, lapseMs: 1, status: "unresolved" },
  ])("charges what it knows nothing of only where it would know: $since, $lapseMs", ({ since, lapseMs, status }) => {
    class Forgetful extends MemoryRecords {
      /** Ends since then, and expiries since the one of the lease, are still known. */
      override get endsKnownFrom() {
        return start;
      }
      override get expiriesKnownFrom() {
        return start + minute + lapseMs;
      }
    }
    const { engine, admit } = setUp(Forgetful);
    const lease = { ...admit("known"), id: "unknown" };
    const settlement = { amountMicro: 7, ...(since !== undefined && { mayBeDuplicateSince: since }) };
    expect(engine.end("charge", lease, settlement, start).status).toBe(status);
    const { usedMicro } = engine.balance("a", limits, {}, start).windows.month;
    expect(usedMicro).toBe(status === "recovered" ? 7 : 0);
  });
});
