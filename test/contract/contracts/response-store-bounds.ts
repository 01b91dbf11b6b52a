import { describe, expect, it } from "vitest";
import type { KeptResponse, ResponseLimits, ResponseStore } from "../../../src/responses/response-store.js";
import { unique } from "../../../src/testing/credit-ledger-fixture.js";
import { item } from "../../../src/testing/response-store/response-fixture.js";

/** What a response counts for besides its text. */
const overheadBytes = 256;

/** A response that counts for so many bytes. */
export function responseOf(account: string, id: string, bytes = overheadBytes + 2): KeptResponse {
  const text = JSON.stringify("x".repeat(bytes - overheadBytes - 2));
  return { id, account, createdAt: 1, previousResponseId: undefined, response: text, input: [], output: [] };
}

/** How stores in a database hold what an account may have, which all processes share. */
export function describeAccountBounds(
  name: string,
  make: (limits: ResponseLimits) => readonly [ResponseStore, ResponseStore],
): void {
  describe(`${name}: the bounds of an account`, () => {
    async function kept(store: ResponseStore, account: string, ...ids: string[]): Promise<string[]> {
      const found = await Promise.all(ids.map(async (id) => ((await store.find(account, id)) ? [id] : [])));
      return found.flat();
    }

    it("let its oldest go, whichever process put them, and nothing of others", async () => {
      const [one, other] = make({ maxAccountBytes: 10_000 });
      const [account, neighbour] = [unique("account"), unique("account")];
      await one.put(responseOf(neighbour, "1", 10_000));
      await one.put(responseOf(account, "1", 4_000));
      await other.put({ ...responseOf(account, "2", 4_000), input: [item("x")] });
      await one.put(responseOf(account, "3", 4_000));
      expect(await kept(other, account, "1", "2", "3")).toEqual(["2", "3"]);
      await other.put(responseOf(account, "4", 9_999));
      expect(await kept(one, account, "2", "3", "4")).toEqual(["4"]);
      expect(await one.findItems(account, ["x"])).toEqual(new Map());
      expect(await kept(one, neighbour, "1")).toEqual(["1"]);
    });

    it("keep no response that is larger, nor the one whose id it has", async () => {
      const [store] = make({ maxAccountBytes: 10_000 });
      const account = unique("account");
      await store.put(responseOf(account, "1"));
      await store.put(responseOf(account, "2"));
      await store.put(responseOf(account, "2", 10_001));
      expect(await kept(store, account, "1", "2")).toEqual(["1"]);
    });

    it("have room again for what was deleted, replaced or forgotten", async () => {
      const [store] = make({ maxAccountBytes: 10_000 });
      const account = unique("account");
      for (let round = 0; round < 4; round++) {
        for (const id of ["1", "2"]) await store.put(responseOf(account, id, 5_000));
        expect(await kept(store, account, "1", "2")).toEqual(["1", "2"]);
        if (round === 1) for (const id of ["1", "2"]) await store.delete(account, id);
        if (round === 2) await store.forget(account);
      }
    });

    it("hold when many are put at once", async () => {
      const stores = make({ maxAccountBytes: 10_000 });
      const account = unique("account");
      const ids = Array.from({ length: 30 }, (_, index) => `many-${index}`);
      await Promise.all(ids.map((id, index) => stores[index % 2]?.put(responseOf(account, id, 2_000))));
      expect(await kept(stores[0], account, ...ids)).toHaveLength(5);
    });

    it.each([{ maxAccountBytes: 0 }, { maxAccountBytes: 0.5 }, { ttlMs: 999 }, { ttlMs: Number.NaN }])(
      "refuse %j",
      (limits) => {
        expect(() => make(limits)).toThrow(RangeError);
      },
    );
  });
}
