import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { item, type ResponseRulesInput } from "./response-fixture.js";

/** What is known of responses before they are loaded, and their input page by page. Stores may lack these methods. */
export function describeInputPages({ describe, it, fixture, ttlMs }: ResponseRulesInput): void {
  describe("measureChain", () => {
    it("says what a response takes, and those before it: at least their texts, and the sum of each", async () => {
      const account = await fixture();
      const { store } = account;
      if (store.measureChain === undefined) return;
      const text = "\u00e4".repeat(1000);
      const first = await account.put({ input: [item("a", text), item("b")] });
      const second = await account.put({ previousResponseId: first.id, output: [] });
      const measure = (id: string, most: number) => store.measureChain?.(account.account, id, most);
      const alone = (await measure(first.id, 1)) ?? 0;
      expect(alone).toBeGreaterThanOrEqual(2000);
      expect(alone < 8000).toBe(true);
      const last = (await measure(second.id, 1)) ?? 0;
      expect(await measure(second.id, 2)).toBe(alone + last);
      expect(await measure(second.id, 1000)).toBe(alone + last);
      await store.delete(account.account, first.id);
      expect(await measure(second.id, 2)).toBe(last);
    });

    it("finds nothing of another account, of what is gone, and of none", async () => {
      const account = await fixture();
      const { store } = account;
      if (store.measureChain === undefined) return;
      const { id } = await account.put();
      expect(await store.measureChain(unique("account"), id, 9)).toBeUndefined();
      expect(await store.measureChain(account.account, "none", 9)).toBeUndefined();
      expect(await store.measureChain(account.account, id, 0)).toBeUndefined();
      account.clock.advance(ttlMs);
      expect(await store.measureChain(account.account, id, 9)).toBeUndefined();
    });
  });

  describe("measureItems", () => {
    it("says how many bytes each item has that findItems would give", async () => {
      const account = await fixture();
      const { store } = account;
      if (store.measureItems === undefined) return;
      await account.put({ input: [item("x", "old"), item("y", "\u00e4")] });
      account.clock.advance(1);
      await account.put({ input: [], output: [item("x", "newer")] });
      const sizes = await store.measureItems(account.account, ["x", "y", "none", "x", ""]);
      const [x, y] = [item("x", "newer").json.length, item("y", "\u00e4").json.length + 1];
      expect(Object.fromEntries(sizes)).toEqual({ x, y });
      expect((await store.measureItems(unique("account"), ["x"])).size).toBe(0);
      account.clock.advance(ttlMs);
      expect((await store.measureItems(account.account, ["x", "y"])).size).toBe(0);
    });
  });

  describe("findInput", () => {
    const ids = ["a", "b", "c", "d", "e"];

    it("gives the items of an input page by page, in both orders, none of its output", async () => {
      const account = await fixture();
      const { store } = account;
      if (store.findInput === undefined) return;
      const { id } = await account.put({ input: ids.map((each) => item(each)), output: [item("out")] });
      for (const order of ["asc", "desc"] as const) {
        const expected = order === "asc" ? ids : ids.toReversed();
        for (const limit of [1, 2, 4, 5, 100]) {
          const found: string[] = [];
          for (let hasMore = true; hasMore; ) {
            const page = await store.findInput(account.account, id, { after: found.at(-1), limit, order });
            for (const each of page?.items ?? []) expect(each).toEqual(item(each.id));
            expect((page?.items.length ?? 0) <= limit).toBe(true);
            found.push(...(page?.items ?? []).map((each) => each.id));
            hasMore = page?.hasMore ?? false;
          }
          expect(found).toEqual(expected);
        }
      }
      for (const after of ["out", "none", ""]) {
        expect(await store.findInput(account.account, id, { after, limit: 9, order: "asc" })).toBeUndefined();
      }
      expect(await store.findInput(unique("account"), id, { limit: 9, order: "asc" })).toBeUndefined();
      expect(await store.findInput(account.account, "none", { limit: 9, order: "asc" })).toBeUndefined();
    });

    it("comes to an end where items have the same id, and gives an empty input", async () => {
      const account = await fixture();
      const { store } = account;
      if (store.findInput === undefined) return;
      const { id } = await account.put({ input: [item("x", "1"), item("y"), item("x", "2"), item("z")] });
      const behind = async (order: "asc" | "desc") =>
        (await store.findInput?.(account.account, id, { after: "x", limit: 9, order }))?.items;
      expect(await behind("asc")).toEqual([item("z")]);
      expect(await behind("desc")).toEqual([]);
      const empty = await account.put({ input: [] });
      expect(await store.findInput(account.account, empty.id, { limit: 9, order: "asc" })).toEqual({
        items: [],
        hasMore: false,
      });
    });
  });
}
