import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { item, type ResponseRulesInput } from "./response-fixture.js";

/** How responses go: deleted, forgotten, expired. */
export function describeEnds({ describe, it, fixture, ttlMs }: ResponseRulesInput): void {
  describe("delete", () => {
    it("deletes one, once", async () => {
      const account = await fixture();
      const [{ id }, kept] = [await account.put(), await account.put()];
      expect(await account.store.delete(account.account, id)).toBe(true);
      expect(await account.find(id)).toBeUndefined();
      expect(await account.store.delete(account.account, id)).toBe(false);
      expect(await account.find(kept.id)).toEqual(kept);
      const again = await account.put({ id });
      expect(await account.find(id)).toEqual(again);
    });

    it("finds nothing to delete of what has expired", async () => {
      const account = await fixture();
      const { id } = await account.put();
      account.clock.advance(ttlMs);
      expect(await account.store.delete(account.account, id)).toBe(false);
    });
  });

  describe("forget", () => {
    it("deletes all of the account, however many, and what is put later is kept", async () => {
      const account = await fixture();
      const ids: string[] = [];
      while (ids.length < 250) ids.push((await account.put({ input: [item("same")], output: [] })).id);
      await account.store.forget(account.account);
      for (const id of ids) expect(await account.find(id)).toBeUndefined();
      expect(await account.findItems("same")).toEqual({});
      const later = await account.put();
      expect(await account.find(later.id)).toEqual(later);
    });

    it("does nothing for an account that has none", async () => {
      const { store } = await fixture();
      await store.forget(unique("account"));
    });
  });

  describe("expiry", () => {
    it("keeps a response to the last millisecond of its time, counted from its put", async () => {
      const account = await fixture();
      const { id } = await account.put({ createdAt: 0, input: [item("x")] });
      account.clock.advance(ttlMs - 1);
      expect((await account.find(id))?.id).toBe(id);
      expect(await account.findItems("x")).toEqual({ x: item("x").json });
      account.clock.advance(1);
      expect(await account.find(id)).toBeUndefined();
      expect(await account.findItems("x")).toEqual({});
    });

    it("begins anew for one that is put again", async () => {
      const account = await fixture();
      const { id } = await account.put();
      account.clock.advance(ttlMs - 1);
      const again = await account.put({ id });
      account.clock.advance(ttlMs - 1);
      expect(await account.find(id)).toEqual(again);
    });

    it("takes the place of one that has expired, and leaves the others alone", async () => {
      const account = await fixture();
      const { id } = await account.put();
      account.clock.advance(ttlMs);
      const others = [await account.put(), await account.put({ id })];
      for (const other of others) expect(await account.find(other.id)).toEqual(other);
    });

    it("loses nothing by a clock that steps back", async () => {
      const account = await fixture();
      const first = await account.put({ input: [item("x", "first")] });
      account.clock.advance(-60_000);
      const second = await account.put({ input: [item("x", "second")] });
      expect(await account.find(first.id)).toEqual(first);
      expect(await account.find(second.id)).toEqual(second);
      expect(await account.findItems("x")).toEqual({ x: item("x", "second").json });
    });
  });
}
