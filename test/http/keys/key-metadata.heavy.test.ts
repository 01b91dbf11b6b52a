import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { keyMetadata } from "../../../src/records/keys/check-key.js";
import type { WritableKeyStore } from "../../../src/records/keys/key-store.js";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { memoryKeyStore } from "../../../src/stores/memory/memory-stores.js";
import { unique } from "../../../src/testing/credit-ledger-fixture.js";
import { describeBackEnds } from "../../e2e/processes/back-ends.js";

const text = (maxLength: number, minLength = 0) =>
  fc
    .string({ unit: "binary", minLength, maxLength: Math.floor(maxLength / 2) })
    .filter((value) => !value.includes("\0") && value.isWellFormed() && value.length >= minLength);
const name = fc.oneof(
  text(64, 1),
  fc.constantFrom("__proto__", "constructor", "prototype", "toString", "0", "length", "a.b", "'", '"', "\\", "\u2028"),
);
const metadata = fc.array(fc.tuple(name, text(512)), { maxLength: 16 }).map((members) => Object.fromEntries(members));

const membersOf = (held: object | null | undefined) =>
  Object.entries(held ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));

async function expectRoundTrips(store: WritableKeyStore, numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(metadata, metadata, async (first, second) => {
      const id = unique("key");
      const key = { id, hash: hashKey(id), hint: "…", account: id, plan: "p", createdAt: 1 };
      await store.insert({ ...key, metadata: first });
      expect(membersOf((await store.find(key.hash))?.metadata)).toEqual(membersOf(first));
      const changed = await store.update(id, { metadata: second });
      for (const found of [changed, await store.get(id), (await store.list(id))[0]]) {
        expect(membersOf(found?.metadata)).toEqual(membersOf(second));
      }
    }),
    { numRuns },
  );
}

describe("metadata of keys", () => {
  it("comes through its check as it is, and as another object", () => {
    fc.assert(
      fc.property(metadata, (given) => {
        const checked = keyMetadata.parse(given);
        expect(checked).not.toBe(given);
        expect(membersOf(checked)).toEqual(membersOf(given));
        expect(Object.getPrototypeOf(checked)).toBe(Object.prototype);
      }),
    );
  });

  it("comes back from memory as it was", () => expectRoundTrips(memoryKeyStore(), 200));
});

describeBackEnds("metadata of keys", (backEnd) => {
  it("comes back as it was", () => expectRoundTrips(backEnd().stores.keys, 60), 60_000);
});
