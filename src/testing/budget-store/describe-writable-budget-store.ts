import type { Budget, BudgetName, WritableBudgetStore } from "../../records/budgets/budget-store.js";
import { confusableTexts } from "../confusable-texts.js";
import { unique } from "../credit-ledger-fixture.js";
import { eventually, expect } from "../expect.js";
import { describeRecords, type RecordTable, subscribeThree } from "../records/describe-records.js";
import { type TestRunner, testRunnerOf } from "../test-runner.js";

type MakeStores = () => Promise<readonly [WritableBudgetStore, WritableBudgetStore]>;
type Runner = ReturnType<typeof testRunnerOf>;

/** Values that stores and separators mix up. */
const oddValues = [
  "=",
  "a=b",
  "/",
  "*",
  "%",
  "_",
  "'",
  "__proto__",
  "10",
  "9",
  " ",
  "A",
  "a",
  "ä",
  "\uffee",
  "\u{1f600}",
];

const full: Omit<Required<Budget>, keyof BudgetName> = {
  credits: { day: 0.5, week: 0, month: 9_007_199_253, total: 1_500.25 },
  rates: {
    requestsPerMinute: { limit: 60, burst: 5 },
    tokensPerMinute: 1_000_000_000,
    concurrent: 0,
    models: { "o'neill/100%_\\größer \u{1f600}": { tokensPerMinute: { limit: 5, count: "input", cached: false } } },
  },
  models: ["acme/*", "o'neill/100%_\\größer", "*"],
  status: "suspended",
  message: 'Ask "first";\nthen größer \u{1f600}',
};

/**
 * Defines the tests that every {@link WritableBudgetStore} must pass.
 *
 * @param make - makes two stores that share their data, as two processes do. They need not be empty: accounts are unique.
 * @param runner - default: see {@link TestRunner}.
 */
export function describeWritableBudgetStore(name: string, make: MakeStores, runner?: TestRunner): void {
  const defined = testRunnerOf(runner);
  defined.describe(`${name}: the writable budget store contract`, () => {
    describeRecords(defined, make, tableOf(unique("account")));
    describePuts(defined, make);
    describeFinds(defined, make);
    describeRemovals(defined, make);
    describeNames(defined, make);
    describePages(defined, make);
    describeNotices(defined, make);
  });
}

function describePuts({ it }: Runner, make: MakeStores): void {
  it.each<[string, Budget]>([
    ["all members", { tag: "member", value: "o'neill/100%_\\größer", ...full }],
    ["no limit", { tag: "member", value: "42" }],
    ["no value", { tag: "member", credits: { month: 50 } }],
    ["no model", { tag: "member", value: "42", models: [] }],
    ["nulls", { tag: "a.b-c_D9", value: null, credits: { day: null, week: 1 }, rates: null, status: null }],
    ["null alone", { tag: "t", value: "v", credits: null, models: null, message: null, rates: { concurrent: null } }],
  ])("finds what was put, with %s, from everywhere", async (_, budget) => {
    const account = unique("account");
    const stores = await make();
    await stores[0].put(account, budget);
    const kept: unknown = JSON.parse(JSON.stringify(budget, (_, member) => member ?? undefined));
    for (const store of stores) {
      expect(await store.get(account, budget)).toEqual(kept);
      expect(await store.find(account, { [budget.tag]: budget.value ?? "any" })).toEqual([kept]);
      expect((await store.list(account)).budgets).toEqual([kept]);
    }
  });

  it("replaces a budget as a whole, a suspension too, and no other", async () => {
    const [store, other] = await make();
    const account = unique("account");
    await store.put(account, { tag: "member", ...full });
    await store.put(account, { tag: "member", value: "42", ...full });
    await other.put(account, { tag: "member", value: "42", credits: { month: 1 } });
    expect(await store.get(account, { tag: "member", value: "42" })).toEqual({
      ...{ tag: "member", value: "42", credits: { month: 1 } },
    });
    expect(await store.get(account, { tag: "member" })).toEqual({ tag: "member", ...full });
  });

  it.each<[string, object]>([
    ["no tag", { tag: undefined }],
    ["a tag that no call carries", { tag: "9" }],
    ["a tag that usage is summed by", { tag: "model" }],
    ["a tag that is taken for one", { tag: "apiKey" }],
    ["an empty value", { value: "" }],
    ["a value that is no text", { value: 42 }],
    ["a misspelled member", { credit: { month: 1 } }],
    ["a misspelled cap", { credits: { monht: 1 } }],
    ["a cap below nothing", { credits: { month: -1 } }],
    ["a cap that cannot be counted", { credits: { month: 1e15 } }],
    ["a misspelled rate", { rates: { requestPerMinute: 5 } }],
    ["a misspelled rate of a pattern", { rates: { models: JSON.parse('{"__proto__":{"concurent":1}}') } }],
    ["a model in place of a list", { models: "m" }],
    ["a model that no store keeps apart", { models: ["\ud83d"] }],
    ["an unknown status", { status: "blocked" }],
    ["a message without a suspension", { message: "Ask." }],
    ["a message with NUL", { status: "suspended", message: "a\0" }],
  ])("refuses a budget with %s", async (_, members) => {
    const [store] = await make();
    const account = unique("account");
    const budget = { tag: "member", value: "42", credits: { month: 1 } };
    await store.put(account, budget);
    await expect(store.put(account, { ...budget, ...members } as Budget)).rejects.toBeInstanceOf(TypeError);
    expect((await store.list(account)).budgets).toEqual([budget]);
  });

  it("keeps rates by patterns of every name", async () => {
    const [store, other] = await make();
    const account = unique("account");
    const models = JSON.parse('{"__proto__":{"concurrent":0},"constructor":{"concurrent":1},"1":{"concurrent":2}}');
    await store.put(account, { tag: "member", rates: { models } });
    const found = await other.get(account, { tag: "member" });
    expect(Object.entries(found?.rates?.models ?? {}).sort()).toEqual(Object.entries(models).sort());
  });

  it("is not changed by what a caller does to its objects", async () => {
    const [store] = await make();
    const account = unique("account");
    const budget: Budget = { tag: "member", models: ["m"], credits: { month: 1 }, rates: { models: { m: {} } } };
    const before = structuredClone(budget);
    await store.put(account, budget);
    Object.assign(budget.credits ?? {}, { month: 2 });
    Object.assign((await store.get(account, budget))?.credits ?? {}, { month: 2 });
    Object.assign((await store.find(account, { member: "1" }))[0] ?? {}, { models: [] });
    Object.assign((await store.list(account)).budgets[0] ?? {}, { status: "suspended" });
    expect(await store.get(account, { tag: "member" })).toEqual(before);
  });

  it("keeps one of the budgets that are put at once, whole, and loses none of another name", async () => {
    const stores = await make();
    const account = unique("account");
    const rivals = [1, 2, 3, 4, 5, 6].map((n) => ({ tag: "member", credits: { month: n }, models: [`m-${n}`] }));
    const own = [1, 2, 3, 4, 5, 6].map((n) => ({ tag: "member", value: `${n}`, credits: { month: n } }));
    await Promise.all([...rivals, ...own].map((budget, index) => stores[index % 2]?.put(account, budget)));
    const found = await stores[0].get(account, { tag: "member" });
    expect(rivals).toContainEqual(found);
    expect(await stores[1].get(account, { tag: "member" })).toEqual(found);
    for (const budget of own) expect(await stores[0].get(account, budget)).toEqual(budget);
  });
}

function describeFinds({ it }: Runner, make: MakeStores): void {
  it("finds for each tag the budget of its value, or else that of each value", async () => {
    const [store, other] = await make();
    const account = unique("account");
    const each = { tag: "member", credits: { month: 50 } };
    const own = { tag: "member", value: "42" };
    const team = { tag: "team", value: "red", credits: { day: 1 } };
    for (const budget of [each, own, team]) await store.put(account, budget);
    await store.put(unique("account"), { tag: "member", value: "43" });
    const find = async (tags: Record<string, string>) =>
      [...(await other.find(account, tags))].sort((one, another) => (one.tag < another.tag ? -1 : 1));
    expect(await find({ member: "42" })).toEqual([own]);
    expect(await find({ member: "43" })).toEqual([each]);
    expect(await find({ team: "red", feature: "x", member: "43" })).toEqual([each, team]);
    expect(await find({ team: "RED" })).toEqual([]);
    expect(await find({ Member: "42" })).toEqual([]);
    expect(await find({})).toEqual([]);
  });

  it("finds the budgets of sixteen tags at once", async () => {
    const [store, other] = await make();
    const account = unique("account");
    const tags = Object.fromEntries(Array.from({ length: 16 }, (_, n) => [`t${n}`, "v".repeat(256)]));
    for (const [tag, value] of Object.entries(tags)) await store.put(account, { tag, value });
    expect(await other.find(account, tags)).toHaveLength(16);
  });
}

function describeRemovals({ it }: Runner, make: MakeStores): void {
  it("removes the budget of a value or that of each value, and of no other account", async () => {
    const [store, other] = await make();
    const [account, neighbour] = [unique("account"), unique("account")];
    const [each, own] = [{ tag: "member" }, { tag: "member", value: "42" }];
    for (const owner of [account, neighbour]) for (const budget of [each, own]) await store.put(owner, budget);
    expect(await other.remove(account, each)).toBe(true);
    expect(await store.remove(account, { tag: "member", value: null })).toBe(false);
    expect(await store.find(account, { member: "43" })).toEqual([]);
    expect((await store.list(account)).budgets).toEqual([own]);
    expect((await store.list(neighbour)).budgets).toHaveLength(2);
  });

  it("forgets all budgets of an account, and of no other", async () => {
    const [store, other] = await make();
    const start = unique("account");
    const [account, neighbour] = [start, `${start}-2`];
    const budgets = Array.from({ length: 30 }, (_, n) => ({ tag: "member", value: `${n}` }));
    for (const budget of budgets) await store.put(account, budget);
    await store.put(neighbour, { tag: "member" });
    await other.forget(account);
    await other.forget(account);
    expect((await store.list(account)).budgets).toEqual([]);
    expect(await store.find(account, { member: "7" })).toEqual([]);
    expect(await store.get(neighbour, { tag: "member" })).toEqual({ tag: "member" });
    await store.put(account, { tag: "member" });
    expect((await other.list(account)).budgets).toEqual([{ tag: "member" }]);
  });
}

function describeNames({ it }: Runner, make: MakeStores): void {
  it("keeps values apart that look alike or hold separators", async () => {
    const [store, other] = await make();
    const account = unique("account");
    for (const [n, value] of oddValues.entries()) await store.put(account, { tag: "t", value, credits: { day: n } });
    for (const [n, value] of oddValues.entries()) {
      expect(await other.find(account, { t: value })).toEqual([{ tag: "t", value, credits: { day: n } }]);
    }
  });

  it.each(confusableTexts)("takes %j in no name, and does not take it for another", async (text) => {
    const [store] = await make();
    const account = unique("account");
    const budget = { tag: "t", value: "\ufffd" };
    await store.put(account, budget);
    for (const wrong of [text, `\ufffd${text}`]) {
      await expect(store.put(account, { tag: "t", value: wrong })).rejects.toBeInstanceOf(TypeError);
      await expect(store.put(account, { tag: `t${wrong}` })).rejects.toBeInstanceOf(TypeError);
      await expect(store.put(`${account}${wrong}`, budget)).rejects.toBeInstanceOf(TypeError);
      expect(await store.find(account, { t: wrong })).toEqual([]);
      expect(await store.get(account, { tag: "t", value: wrong })).toBeUndefined();
      expect(await store.remove(account, { tag: "t", value: wrong })).toBe(false);
      expect(await store.find(`${account}${wrong}`, { t: "\ufffd" })).toEqual([]);
      expect((await store.list(`${account}${wrong}`)).budgets).toEqual([]);
      await store.forget(`${account}${wrong}`);
    }
    expect((await store.list(account)).budgets).toEqual([budget]);
  });

  it("takes names as long as calls have them, and no longer ones", async () => {
    const [store, other] = await make();
    const account = unique("account").padEnd(128, "\uffee");
    const longest = { tag: "t".repeat(64), value: "\uffee".repeat(256) };
    await store.put(account, longest);
    expect(await other.find(account, { [longest.tag]: longest.value })).toEqual([longest]);
    const longer = [
      { ...longest, tag: `${longest.tag}t` },
      { ...longest, value: `${longest.value}a` },
    ];
    for (const name of longer) {
      await expect(store.put(account, name)).rejects.toBeInstanceOf(TypeError);
      expect(await store.get(account, name)).toBeUndefined();
      expect(await store.find(account, { [name.tag]: name.value })).toEqual([]);
    }
    await expect(store.put(`${account}a`, longest)).rejects.toBeInstanceOf(TypeError);
  });

  it.each(["none", "__proto__", "constructor", "", "' OR '1'='1", "%"])("finds nothing of %j", async (id) => {
    const [store] = await make();
    await store.put(unique("account"), { tag: "t", value: "v" });
    expect(await store.find(id, { t: "v", [id]: id })).toEqual([]);
    expect(await store.get(id, { tag: "t", value: "v" })).toBeUndefined();
    expect(await store.remove(id, { tag: id, value: id })).toBe(false);
    expect((await store.list(id)).budgets).toEqual([]);
  });
}

/** The values of the budgets of all pages, in their order. */
async function listValues(store: WritableBudgetStore, account: string, limit?: number): Promise<string[]> {
  const values: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list(account, { limit, cursor });
    // A store that gives the same page again must not hang.
    expect(values).not.toContain(page.budgets[0]?.value ?? "");
    expect(page.budgets.length).toBeLessThanOrEqual(limit ?? 100);
    values.push(...page.budgets.map(({ value = "" }) => value));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return values;
}

function describePages({ it }: Runner, make: MakeStores): void {
  it("lists every budget of the account once, in one order, whatever the pages are", async () => {
    const [store, other] = await make();
    const account = unique("account");
    const values = ["", ...oddValues, "\uffee".repeat(256)];
    for (const value of values) {
      await store.put(account, { tag: "t", ...(value === "" ? {} : { value }), models: [`m${value.slice(0, 9)}`] });
    }
    await store.put(unique("account"), { tag: "t", value: "other" });
    const order = await listValues(other, account, 1000);
    expect([...order].sort()).toEqual([...values].sort());
    for (const limit of [1, 2, 7, undefined]) expect(await listValues(store, account, limit)).toEqual(order);
  });

  it("neither skips nor repeats those that stay, while others come and go", async () => {
    const [store] = await make();
    const account = unique("account");
    const values = Array.from({ length: 12 }, (_, index) => `${10 + index}`);
    for (const value of values) await store.put(account, { tag: "t", value });
    const listed: string[] = [];
    let cursor: string | undefined;
    for (let turn = 0; turn < 40; turn++) {
      const page = await store.list(account, { limit: 3, cursor });
      listed.push(...page.budgets.map(({ value = "" }) => value));
      // The one that the cursor stands on goes.
      const value = page.budgets.at(-1)?.value;
      if (value !== undefined && turn < 3) {
        await store.remove(account, { tag: "t", value });
        await store.put(account, { tag: "t", value: `${value}-later` });
      }
      cursor = page.cursor;
      if (cursor === undefined) break;
    }
    expect(cursor).toBeUndefined();
    for (const value of values) expect(listed.filter((each) => each === value)).toEqual([value]);
  });

  it.each([{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { page: 2 }, { cursor: "" }])(
    "refuses the page %j",
    async (page) => {
      const [store] = await make();
      await expect(store.list(unique("account"), page)).rejects.toBeInstanceOf(TypeError);
    },
  );
}

function describeNotices({ it }: Runner, make: MakeStores): void {
  it("tells its subscribers of every change, wherever it is made, until they leave", async ({ skip }) => {
    const [store, other] = await make();
    const notices = await subscribeThree(store);
    if (notices === undefined) return skip("The store cannot tell.");
    const { gone, heard, end } = notices;
    const account = unique("account");
    const budget = { tag: "member", value: "42" };
    const isHeard = async (change: Promise<unknown>): Promise<void> => {
      await change;
      await eventually(() => expect(heard).toContain(account));
      heard.length = 0;
    };
    for (const writer of [store, other]) {
      await isHeard(writer.put(account, budget));
      await isHeard(writer.put(account, { ...budget, status: "suspended" }));
      await isHeard(writer.remove(account, budget));
      await writer.put(account, budget);
      await eventually(() => expect(heard).toContain(account));
      heard.length = 0;
      await isHeard(writer.forget(account));
    }
    expect(gone).toEqual([]);
    await end();
  });
}

/** Budgets of one account, by the values of a tag. */
const tableOf = (account: string): RecordTable<WritableBudgetStore> => ({
  longestId: 256,
  replaces: true,
  put: (store, value, mark) => store.put(account, { tag: "t", value, credits: { month: mark }, models: [`${mark}`] }),
  async find(store, value) {
    const listed = (await store.list(account, { limit: 1000 })).budgets.filter((budget) => budget.value === value);
    const found = [
      (await store.get(account, { tag: "t", value })) ?? [],
      await store.find(account, { t: value }),
      listed,
    ];
    return found.flat().flatMap(({ credits, models }) => [credits?.month ?? 0, Number(models?.[0])]);
  },
  remove: (store, value) => store.remove(account, { tag: "t", value }),
  notice: () => account,
});
