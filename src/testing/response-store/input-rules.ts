import type { KeptResponse } from "../../responses/response-store.js";
import { confusableTexts } from "../confusable-texts.js";
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
