import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Receipt } from "../../../src/ledger/rules/reservation.js";
import { ReceiptTable } from "../../../src/stores/memory/rotating-map.js";
import { collidingIds } from "./colliding-ids.js";

function receipt(amount: number): Receipt {
  const starts = { session: amount, week: 1, month: 2 };
  return {
    account: `acct_${amount % 3}`,
    amountMicro: amount,
    expiresAt: amount + 0.5,
    prepaidMicro: amount % 5,
    starts,
    ends: { ...starts, month: 9 },
  };
}

describe("ReceiptTable", () => {
  it("does what a Map does", () => {
    const id = fc.oneof(
      fc.nat(60).map((number) => `req_${number}`),
      fc.string({ maxLength: 3 }),
    );
    const operation = fc.tuple(fc.constantFrom("set", "set", "set", "get", "delete"), id, fc.nat(1000));
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 1500, size: "max" }), (operations) => {
        const table = new ReceiptTable();
        const map = new Map<string, Receipt>();
        for (const [kind, key, amount] of operations) {
          if (kind === "set") {
            table.set(key, receipt(amount));
            map.set(key, receipt(amount));
          } else if (kind === "delete") {
            table.delete(key);
            map.delete(key);
          }
          expect(table.get(key)).toEqual(map.get(key));
          expect(table.size).toBe(map.size);
        }
        for (const [key, value] of map) expect(table.get(key)).toEqual(value);
      }),
      { numRuns: 50 },
    );
  });

  it("keeps very many apart, as it grows", () => {
    const table = new ReceiptTable();
    const ids = Array.from({ length: 20_000 }, (_, index) => `req_${crypto.randomUUID()}_${index}`);
    for (const [index, id] of ids.entries()) table.set(id, receipt(index));
    expect(table.size).toBe(ids.length);
    for (const [index, id] of ids.entries()) expect(table.get(id)?.amountMicro).toBe(index);
    expect(table.get("req_other")).toBeUndefined();
  });

  it("keeps those apart whose hashes begin alike", () => {
    const groups = collidingIds(300_000, -1);
    expect(groups.length).toBeGreaterThan(2);
    const table = new ReceiptTable();
    for (const [one, other] of groups as [string, string][]) {
      table.set(one, receipt(1));
      expect(table.get(other)).toBeUndefined();
      table.delete(other);
      table.set(other, receipt(2));
      expect([table.get(one), table.get(other)]).toEqual([receipt(1), receipt(2)]);
      table.delete(one);
      expect([table.get(one), table.get(other)]).toEqual([undefined, receipt(2)]);
    }
    expect(table.size).toBe(groups.length);
  });

  it("does what a Map does with ids that all belong in a few slots, as it grows", () => {
    const ids = collidingIds(100_000, 0x1ff).slice(0, 6).flat();
    const table = new ReceiptTable();
    const map = new Map<string, Receipt>();
    for (const [index, id] of ids.entries()) {
      table.set(id, receipt(index));
      map.set(id, receipt(index));
      if (index % 3 !== 0) continue;
      const gone = ids[(index * 7) % (index + 1)] as string;
      table.delete(gone);
      map.delete(gone);
    }
    expect(table.size).toBe(map.size);
    for (const id of ids) expect(table.get(id)).toEqual(map.get(id));
  });

  it("gives a deleted receipt that is set again its place, wherever it stands", () => {
    for (const expected of [0, 20_000]) {
      const table = new ReceiptTable(expected);
      for (let index = 0; index < 20_000; index++) table.set(`req_${index}`, receipt(index));
      // The first and the last of a chunk among them.
      for (let index = 0; index < 20_000; index += 3) table.delete(`req_${index}`);
      expect(table.size).toBe(20_000 - 6_667);
      for (let index = 0; index < 20_000; index += 6) table.set(`req_${index}`, receipt(index + 1));
      for (let index = 0; index < 20_000; index++) {
        const amount = index % 6 === 0 ? index + 1 : index;
        expect(table.get(`req_${index}`)?.amountMicro).toBe(index % 6 === 3 ? undefined : amount);
      }
      expect(table.size).toBe(20_000 - 3_333);
    }
  });

  it("takes no more room for one that comes and goes", () => {
    const table = new ReceiptTable();
    const before = process.memoryUsage().arrayBuffers;
    for (let index = 0; index < 300_000; index++) {
      table.set("req_0", receipt(index));
      table.delete("req_0");
    }
    expect(table.size).toBe(0);
    expect(table.get("req_0")).toBeUndefined();
    // A place takes 40 bytes there.
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(2_000_000);
  });
});
