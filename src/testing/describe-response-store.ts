import { unique } from "./credit-ledger-fixture.js";
import { expect } from "./expect.js";
import { describeInput, describeInputPages, describeItems } from "./response-store/input-rules.js";
import {
  item,
  type MakeResponseStore,
  type ResponseRulesInput,
  responseFixtures,
} from "./response-store/response-fixture.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

/** A {@link TestRunner}, and what differs between stores of responses. */
export interface DescribeResponseStoreOptions extends TestRunner {
  /** How long the stores keep a response, in milliseconds. Default: 30 days. */
  ttlMs?: number | undefined;
}

const day = 86_400_000;

/**
 * Defines the tests that every {@link ResponseStore} must pass: putting, finding, chains, items, pages, accounts, expiry.
 *
 * @param make - makes a store that takes its time from the clock, which moves forth and back, and has room for 8 MiB of an
 *   account. It need not be empty: accounts are unique. A store that keeps time of its own needs a way to be told it.
 */
export function describeResponseStore(
  name: string,
  make: MakeResponseStore,
  { ttlMs = 30 * day, ...runner }: DescribeResponseStoreOptions = {},
): void {
  const { describe, it } = testRunnerOf(runner);
  const input = { describe, it, fixture: responseFixtures(make), ttlMs };
  describe(`${name}: the response store contract`, () => {
    for (const describeRules of rules) describeRules(input);
  });
}

const rules = [
  describePut,
  describeChains,
  describeItems,
  describeAccounts,
  describeInput,
  describeEnds,
  describeInputPages,
];

/** What is put is found as it was. */
function describePut({ describe, it, fixture }: ResponseRulesInput): void {
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

/** No account reaches another one's responses. */
function describeAccounts({ describe, it, fixture }: ResponseRulesInput): void {
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

/** A response and those before it. */
function describeChains({ describe, it, fixture, ttlMs }: ResponseRulesInput): void {
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

/** How responses go: deleted, forgotten, expired. */
function describeEnds({ describe, it, fixture, ttlMs }: ResponseRulesInput): void {
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
