import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Receipt } from "../../src/ledger/receipt.js";
import { ReceiptTable } from "../../src/ledger/receipt-table.js";

function receipt(amount: number): Receipt {
  const starts = { session: amount, week: 1, month: 2 };
  return { subject: `acct_${amount % 3}`, amount, expiresAt: amount + 0.5, starts, ends: { ...starts, month: 9 } };
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
    for (const [index, id] of ids.entries()) expect(table.get(id)?.amount).toBe(index);
    expect(table.get("req_other")).toBeUndefined();
  });

  it("is not filled up by what was deleted", () => {
    const table = new ReceiptTable();
    for (let index = 0; index < 100_000; index++) {
      table.set(`req_${index}`, receipt(index));
      table.delete(`req_${index}`);
    }
    expect(table.size).toBe(0);
  });
});
