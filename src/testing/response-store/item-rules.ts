import { expect } from "../expect.js";
import { item, type ResponseRulesInput } from "./response-fixture.js";

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
