import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { decodeReplies } from "../../../../src/stores/redis/ledger/ledger-reply.js";
import { replyLengths, replyStatuses } from "../../../../src/stores/redis/lua/replies.js";

const most = Number.MAX_SAFE_INTEGER;

function packed(numbers: readonly number[], offset = 0): Buffer {
  // Buffers of a client begin anywhere in what it has read.
  const bytes = Buffer.alloc(offset + 8 * numbers.length);
  for (const [index, number] of numbers.entries()) bytes.writeDoubleLE(number, offset + 8 * index);
  return bytes.subarray(offset);
}

const text = (numbers: readonly number[]) =>
  numbers.map((number) => `${Number.isNaN(number) ? "-nan" : number.toFixed(0)},`).join("");

const settled = replyStatuses.indexOf("settled");
const conflict = replyStatuses.indexOf("conflict");
const values = [settled, 1_774_000_000_000, ...Array.from({ length: 14 }, (_, index) => most - index), Number.NaN];
const all = [...values, conflict, 5];

describe("replies of the script", () => {
  it.each([
    ["bytes", packed(all)],
    ["bytes in the middle of others", packed(all, 3)],
    ["text", text(all)],
  ])("are exact to the last integer as %s", (_, reply) => {
    const [first, second, ...more] = decodeReplies(reply);
    expect(more).toEqual([]);
    expect([first?.status, second?.status]).toEqual(["settled", "conflict"]);
    expect(Array.from(first?.numbers.subarray(first.first, first.first + replyLengths.settled) ?? [])).toEqual(values);
    expect(second?.first).toBe(replyLengths.settled);
  });

  it("are none where there is no operation", () => {
    expect(decodeReplies("")).toEqual([]);
    expect(decodeReplies(Buffer.alloc(0))).toEqual([]);
  });

  it.each([-1, 99, Number.NaN])("with a status of %d are refused", (status) => {
    expect(() => decodeReplies(packed([status, 0]))).toThrow(/status/);
  });
});
