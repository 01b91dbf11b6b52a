import type { KeptResponse } from "../../responses/response-store.js";
import { confusableTexts } from "../confusable-texts.js";
import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { item, type ResponseRulesInput } from "./response-fixture.js";

const tooLong = "a".repeat(257);

/** What cannot be stored is refused, and none is found by it. */
export function describeInput({ describe, it, fixture }: ResponseRulesInput): void {
  describe("input", () => {
    it.each([...confusableTexts, "", tooLong])("refuses the id %j, and finds nothing by it", async (text) => {
      const account = await fixture();
      const parts: Partial<KeptResponse>[] = [
        { id: text },
        { account: text },
        { previousResponseId: text },
        { input: [item("fine"), { id: text, json: "{}" }] },
        { output: [{ id: text, json: "{}" }] },
      ];
      for (const part of parts) await expect(account.put(part)).rejects.toBeInstanceOf(TypeError);
      const { store } = account;
      expect(await account.find(text)).toBeUndefined();
      expect(await store.find(text, "fine")).toBeUndefined();
      expect(await store.findChain(account.account, text, 1)).toBeUndefined();
      expect(await store.findChain(text, "fine", 1)).toBeUndefined();
      expect(await account.findItems(text, "fine")).toEqual({});
      expect(await store.findItems(text, ["fine"])).toEqual(new Map());
      expect(await store.delete(account.account, text)).toBe(false);
      expect(await store.delete(text, "fine")).toBe(false);
      await store.forget(text);
    });

    it.each(["\ud83d", '"\ude00"', "a\0b"])("refuses the text %j, which is not JSON", async (text) => {
      const account = await fixture();
      await expect(account.put({ response: text })).rejects.toBeInstanceOf(TypeError);
      await expect(account.put({ input: [{ id: "a", json: text }] })).rejects.toBeInstanceOf(TypeError);
      await expect(account.put({ output: [{ id: "a", json: text }] })).rejects.toBeInstanceOf(TypeError);
      expect(await account.findItems("a")).toEqual({});
    });

    it.each([Number.NaN, 0.5, Number.POSITIVE_INFINITY])("refuses the moment %s", async (createdAt) => {
      const account = await fixture();
      await expect(account.put({ createdAt })).rejects.toBeInstanceOf(TypeError);
    });
  });
}

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

/** Items by their ids. */
export function describeItems({ describe, it, fixture, ttlMs }: ResponseRulesInput): void {
  describe("findItems", () => {
    it("gives items of input and output, of any response, and leaves out those that are not kept", async () => {
      const account = await fixture();
      await account.put({ input: [item("in")], output: [item("out"), item("more")] });
      await account.put({ input: [], output: [item("other")] });
      const found = await account.findItems("other", "in", "none", "out", "in", "");
      expect(found).toEqual({ in: item("in").json, out: item("out").json, other: item("other").json });
      expect(await account.findItems()).toEqual({});
    });

    it("gives the newest response's item of an id, and that of an older one when it is gone", async () => {
      const account = await fixture();
      await account.put({ id: "old", input: [item("x", "old")] });
      account.clock.advance(1);
      await account.put({ id: "new", input: [item("x", "new")] });
      expect(await account.findItems("x")).toEqual({ x: item("x", "new").json });
      await account.store.delete(account.account, "new");
      expect(await account.findItems("x")).toEqual({ x: item("x", "old").json });
      await account.put({ id: "newer", input: [item("x", "newer")] });
      // Put again, so that it is the newest now.
      await account.put({ id: "old", input: [item("x", "old")] });
      expect(await account.findItems("x")).toEqual({ x: item("x", "old").json });
    });

    it("gives the last item of an id within one response", async () => {
      const account = await fixture();
      const response = await account.put({ input: [item("x", "1"), item("x", "2")], output: [item("x", "3")] });
      expect(await account.findItems("x")).toEqual({ x: item("x", "3").json });
      expect(await account.find(response.id)).toEqual(response);
    });

    it("tells ids apart that begin alike", async () => {
      const account = await fixture();
      const ids = ["a", "a1", "a:", "a:000001", "a\u{10ffff}", "A", "a ", "ä", "a\u0308"];
      await account.put({ input: ids.map((id) => item(id)) });
      expect(await account.findItems(...ids)).toEqual(Object.fromEntries(ids.map((id) => [id, item(id).json])));
      expect(await account.findItems("a2", "a:0", "%", "a%", "*")).toEqual({});
    });

    it("gives none of a response that is deleted or has expired", async () => {
      const account = await fixture();
      const { id } = await account.put({ input: [item("deleted")] });
      await account.put({ input: [item("expired")] });
      await account.store.delete(account.account, id);
      expect(await account.findItems("deleted", "expired")).toEqual({ expired: item("expired").json });
      account.clock.advance(ttlMs);
      expect(await account.findItems("deleted", "expired")).toEqual({});
    });
  });
}
