import { expect } from "../expect.js";
import { item, type ResponseRulesInput } from "./response-fixture.js";

/** What is put is found as it was. */
export function describePut({ describe, it, fixture }: ResponseRulesInput): void {
  describe("put and find", () => {
    it("finds a response with all that it holds", async () => {
      const account = await fixture();
      const first = await account.put();
      const second = await account.put({ previousResponseId: first.id, createdAt: 1 });
      expect(await account.find(first.id)).toEqual(first);
      expect(await account.find(second.id)).toEqual(second);
    });

    it("keeps a response without items", async () => {
      const account = await fixture();
      const response = await account.put({ input: [], output: [] });
      expect(await account.find(response.id)).toEqual(response);
      expect(await account.store.findChain(account.account, response.id, 1)).toEqual([response]);
    });

    it("keeps texts byte for byte, and items in their order", async () => {
      const account = await fixture();
      const text = '{ "a":1.0,\t"b": "\\u0000 \\ud800 %_\\\\ $1 \u2028 \u{1f600} ö", "c":1e400, "c":[] }';
      const input = Array.from({ length: 12 }, (_, index) => ({ id: `i${11 - index}`, json: `${text}${index}` }));
      const response = await account.put({ response: text, input, output: [{ id: "o", json: text }] });
      expect(await account.find(response.id)).toEqual(response);
    });

    it("keeps a response of a megabyte, and one of a thousand items", async () => {
      const account = await fixture();
      const large = await account.put({ response: JSON.stringify("ö".repeat(500_000)) });
      const many = await account.put({ input: Array.from({ length: 1_000 }, (_, index) => item(`many_${index}`)) });
      expect(await account.find(large.id)).toEqual(large);
      expect(await account.find(many.id)).toEqual(many);
    });

    it("replaces the one of the same id, with its items", async () => {
      const account = await fixture();
      const { id } = await account.put({ input: [item("old"), item("both", "old")] });
      const replacement = await account.put({ id, response: '"new"', input: [item("both", "new")], output: [] });
      expect(await account.find(id)).toEqual(replacement);
      expect(await account.findItems("old", "both", `${id}_msg`)).toEqual({ both: item("both", "new").json });
    });

    it("gives away nothing that a caller could change", async () => {
      const account = await fixture();
      const input = [item("a")];
      const response = account.make({ input });
      const before = structuredClone(response);
      await account.store.put(response);
      input.push(item("b"));
      Object.assign(response, { response: "changed" });
      expect(await account.find(before.id)).toEqual(before);
    });

    it("keeps all of many that are put at once", async () => {
      const account = await fixture();
      const responses = await Promise.all(Array.from({ length: 20 }, () => account.put()));
      for (const response of responses) expect(await account.find(response.id)).toEqual(response);
    });

    it("closes", async () => {
      const { store } = await fixture();
      await store.close();
    });
  });
}
