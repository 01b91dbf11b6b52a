import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { item, type ResponseRulesInput } from "./response-fixture.js";

/** No account reaches another one's responses. */
export function describeAccounts({ describe, it, fixture }: ResponseRulesInput): void {
  describe("accounts", () => {
    const hostile = ["__proto__", "constructor", "' OR '1'='1", "a:b", "a}:{b", "*", "%", "$1", "ä", "a\u0308", " "];

    it("keep responses of equal ids apart", async () => {
      const one = await fixture();
      const other = unique("account");
      const mine = await one.put({ id: "same", input: [item("x", "mine")], output: [] });
      expect(await one.store.find(other, "same")).toBeUndefined();
      expect(await one.store.findChain(other, "same", 9)).toBeUndefined();
      expect(await one.store.findItems(other, ["x"])).toEqual(new Map());
      expect(await one.store.delete(other, "same")).toBe(false);

      const theirs = await one.put({ account: other, id: "same", input: [item("x", "theirs")], output: [] });
      expect(await one.find("same")).toEqual(mine);
      expect(await one.store.find(other, "same")).toEqual(theirs);
      expect(await one.findItems("x")).toEqual({ x: item("x", "mine").json });
      await one.store.forget(one.account);
      expect(await one.find("same")).toBeUndefined();
      expect(await one.store.find(other, "same")).toEqual(theirs);
    });

    it("do not go on from another one's response", async () => {
      const one = await fixture();
      const { id } = await one.put();
      const other = await one.put({ account: unique("account"), previousResponseId: id });
      expect(await one.store.findChain(other.account, other.id, 9)).toBeUndefined();
    });

    it.each(hostile)("may be called %j, as may responses and items", async (text) => {
      const { store, make } = await fixture().then((made) => ({ store: made.store, make: made.make.bind(made) }));
      const account = `${unique("account")}${text}`;
      const neighbour = make({ account: account.slice(0, -1), id: text, input: [item(text, "neighbour")] });
      const response = make({ account, id: text, input: [item(text)], previousResponseId: `${text}0` });
      await store.put(neighbour);
      await store.put(response);
      await store.put(make({ account, id: `${text}0` }));
      expect(await store.find(account, text)).toEqual(response);
      expect(await store.findChain(account, text, 2)).toHaveLength(2);
      expect(await store.findItems(account, [text])).toEqual(new Map([[text, item(text).json]]));
      expect(await store.delete(account, text)).toBe(true);
      await store.forget(account);
      expect(await store.find(account, `${text}0`)).toBeUndefined();
      expect(await store.find(neighbour.account, text)).toEqual(neighbour);
    });
  });
}
