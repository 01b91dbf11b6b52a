import { expect } from "../expect.js";
import type { ResponseRulesInput } from "./response-fixture.js";

/** A response and those before it. */
export function describeChains({ describe, it, fixture, ttlMs }: ResponseRulesInput): void {
  describe("findChain", () => {
    it("gives a response and those before it, the oldest first", async () => {
      const { store, account, ...fixed } = await chainOf(5);
      expect(await store.findChain(account, fixed.last, 5)).toEqual(fixed.chain);
      const middle = fixed.chain[2]?.id ?? "";
      expect(await store.findChain(account, middle, 5)).toEqual(fixed.chain.slice(0, 3));
    });

    it("gives one that goes on from none", async () => {
      const { store, account, chain, last } = await chainOf(1);
      expect(await store.findChain(account, last, 1)).toEqual(chain);
    });

    it("gives nothing where there are more than asked for", async () => {
      const { store, account, last } = await chainOf(5);
      expect(await store.findChain(account, last, 4)).toBeUndefined();
      expect(await store.findChain(account, last, 1)).toBeUndefined();
      expect(await store.findChain(account, last, 0)).toBeUndefined();
    });

    it.each([0, 2, 4])("gives nothing once number %i of five is gone", async (index) => {
      const { store, account, chain, last } = await chainOf(5);
      await store.delete(account, chain[index]?.id ?? "");
      expect(await store.findChain(account, last, 100)).toBeUndefined();
    });

    it("gives nothing once the first has expired", async () => {
      const account = await fixture();
      const first = await account.put();
      account.clock.advance(ttlMs - 1);
      const { id } = await account.put({ previousResponseId: first.id });
      expect(await account.store.findChain(account.account, id, 2)).toHaveLength(2);
      account.clock.advance(1);
      expect(await account.store.findChain(account.account, id, 2)).toBeUndefined();
    });

    it("ends where responses go on from each other", async () => {
      const account = await fixture();
      const { id } = await account.put({ id: "one", previousResponseId: "two" });
      await account.put({ id: "two", previousResponseId: "one" });
      await account.put({ id: "self", previousResponseId: "self" });
      expect(await account.store.findChain(account.account, id, 50)).toBeUndefined();
      expect(await account.store.findChain(account.account, "self", 50)).toBeUndefined();
    });

    async function chainOf(length: number) {
      const { store, account, ...rest } = await fixture().then(async (made) => {
        const chain = await made.putChain(length);
        return { store: made.store, account: made.account, chain };
      });
      return { store, account, ...rest, last: rest.chain.at(-1)?.id ?? "" };
    }
  });
}
