import type { AccountChange, StoredAccount, WritableAccountStore } from "../records/accounts/account-store.js";
import { unique } from "./credit-ledger-fixture.js";
import { expect } from "./expect.js";
import { describeRecords, type RecordTable } from "./records/describe-records.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

function newAccount(more: Partial<StoredAccount> = {}): StoredAccount {
  return { id: unique("account"), plan: "pro", ...more };
}

type Members = Omit<StoredAccount, "version">;

const fullAccount = (): Required<Members> =>
  newAccount({
    plan: "o'neill/100%_\\größer",
    anchor: Date.UTC(1969, 0, 31, 10),
    status: "suspended",
    message: 'Pay "first";\nthen größer \u{1f600}',
    metadata: { customer: "cus_1'\"", seats: 3, ratio: 0.1, trial: false, note: "" },
    rates: {
      requestsPerMinute: { limit: 60, burst: 5 },
      tokensPerMinute: 1_000_000_000,
      concurrent: 0,
      models: { "o'neill/100%_\\größer \u{1f600}": { tokensPerMinute: { limit: 5, count: "input", cached: false } } },
    },
    models: ["acme/*", "o'neill/100%_\\größer \u{1f600}"],
    priceFactor: 0.000001,
  }) as Required<Members>;

/** Without its version, and the members that are not there, be it as `null` or `undefined`. */
function plain(account: StoredAccount | null | undefined): object | undefined {
  if (!account) return undefined;
  return Object.fromEntries(
    Object.entries(account).filter(([name, value]) => name !== "version" && value !== null && value !== undefined),
  );
}

/** The paths of members that are `null`. */
function nullsOf(value: unknown, path = ""): string[] {
  if (value === null) return [path];
  if (typeof value !== "object") return [];
  return Object.entries(value).flatMap(([name, member]) => nullsOf(member, `${path}.${name}`));
}

type MakeStores = () => Promise<readonly [WritableAccountStore, WritableAccountStore]>;

/**
 * Defines the tests that every {@link WritableAccountStore} must pass.
 *
 * @param make - makes two stores that share their data, as two processes do. They need not be empty: ids are unique.
 * @param runner - default: see {@link TestRunner}.
 */
export function describeWritableAccountStore(name: string, make: MakeStores, runner?: TestRunner): void {
  const defined = testRunnerOf(runner);
  defined.describe(`${name}: the writable account store contract`, () => {
    describePuts(defined, make);
    describeAbsence(defined, make);
    describeUpdates(defined, make);
    describeVersions(defined, make);
    describeRaces(defined, make);
    describePages(defined, make);
    describeRecords(defined, make, table);
  });
}

type Runner = ReturnType<typeof testRunnerOf>;

function describePuts({ it }: Runner, make: MakeStores): void {
  it.each([
    ["all", fullAccount],
    ["few", newAccount],
  ])("finds what was put, with %s members, from everywhere", async (_, makeAccount) => {
    const account = makeAccount();
    const stores = await make();
    await stores[0].put(account);
    for (const store of stores) expect(plain(await store.find(account.id))).toEqual(plain(account));
  });

  it("replaces an account, but for a status that it is not given", async () => {
    const [store, other] = await make();
    const account = fullAccount();
    await store.put(account);
    const { id, status, message } = account;
    await other.put({ id, plan: "basic" });
    expect(plain(await store.find(id))).toEqual({ id, plan: "basic", status, message });
    await other.put({ id, plan: "pro", status: null, metadata: {} });
    expect(plain(await store.find(id))).toEqual({ id, plan: "pro", status, message, metadata: {} });
    await store.put({ id, plan: "pro", status: "active" });
    expect(plain(await other.find(id))).toEqual({ id, plan: "pro", status: "active" });
    await store.put({ id, plan: "pro", status: "suspended" });
    expect(plain(await other.find(id))).toEqual({ id, plan: "pro", status: "suspended" });
  });

  it.each<[string, object]>([
    ["no plan", { plan: undefined }],
    ["a plan that no store keeps apart", { plan: "\ud83d" }],
    ["a misspelled member", { anker: 1 }],
    ["an unknown status", { status: "blocked" }],
    ["a message without a suspension", { message: "Pay first." }],
    ["a misspelled rate", { rates: { requestPerMinute: 5 } }],
    ["a misspelled rate of a pattern", { rates: { models: JSON.parse('{"__proto__":{"concurent":1}}') } }],
    ["models that are no list", { models: "acme/*" }],
    ["a model that no store keeps apart", { models: ["\ud83d"] }],
    ["a price factor of nothing", { priceFactor: 0 }],
    ["a price factor below nothing", { priceFactor: -1 }],
    ["a price factor of seven decimals", { priceFactor: 0.1234567 }],
    ["a price factor that is endless", { priceFactor: Number.POSITIVE_INFINITY }],
    ["a rate below nothing", { rates: { concurrent: -1 } }],
    ["a pattern that no store keeps apart", { rates: { models: { "\ud83d": { concurrent: 1 } } } }],
    ["an anchor that is no date", { anchor: Number.NaN }],
    ["nested metadata", { metadata: { a: { b: 1 } } }],
    ["metadata with NUL", { metadata: { a: "\0" } }],
    ["metadata with half a surrogate pair", { metadata: { a: "\ud83d" } }],
    ["a name in its metadata that no store keeps apart", { metadata: { "\ud83d": 1 } }],
    ["a message with NUL", { status: "suspended", message: "a\0" }],
  ])("refuses an account with %s", async (_, members) => {
    const [store] = await make();
    const account = newAccount();
    await store.put(account);
    await expect(store.put({ ...account, ...members } as StoredAccount)).rejects.toBeInstanceOf(TypeError);
    expect(plain(await store.find(account.id))).toEqual(account);
  });

  it("keeps rates by patterns of every name", async () => {
    const [store, other] = await make();
    const models = JSON.parse('{"__proto__":{"concurrent":0},"constructor":{"concurrent":1},"1":{"concurrent":2}}');
    const account = newAccount({ rates: { models } });
    await store.put(account);
    const changed = newAccount();
    await store.put(changed);
    await store.update(changed.id, { rates: { models } });
    for (const { id } of [account, changed]) {
      const found = await other.find(id);
      expect(Object.entries(found?.rates?.models ?? {}).sort()).toEqual(Object.entries(models).sort());
    }
    await other.put({ id: account.id, plan: "pro" });
    expect((await store.find(account.id))?.rates ?? null).toBeNull();
  });

  it("is not changed by what a caller does to its objects", async () => {
    const [store] = await make();
    const account = newAccount({ metadata: { a: 1 }, rates: { models: { m: { concurrent: 1 } } } });
    const before = structuredClone(account);
    await store.put(account);
    Object.assign(account, { plan: "basic" });
    Object.assign(account.metadata ?? {}, { a: 2 });
    Object.assign(account.rates?.models?.["m"] ?? {}, { concurrent: 2 });
    Object.assign((await store.find(account.id))?.rates?.models ?? {}, { m: {} });
    Object.assign((await store.find(account.id)) ?? {}, { status: "suspended" });
    expect(plain(await store.find(account.id))).toEqual(before);
  });
}

function describeAbsence({ it }: Runner, make: MakeStores): void {
  const none = {
    anchor: null,
    status: null,
    message: null,
    metadata: null,
    rates: null,
    models: null,
    priceFactor: null,
  } as const;
  const undefinedMembers = Object.fromEntries(Object.keys(none).map((name) => [name, undefined]));

  it.each<[string, object]>([
    ["null", none],
    ["undefined", undefinedMembers],
    ["not given", {}],
  ])("reads what was %s as absent, from everywhere", async (_, members) => {
    const [store, other] = await make();
    const account = newAccount(members);
    await store.put(account);
    const changed = fullAccount();
    await store.put(changed);
    const updated = await store.update(changed.id, { ...none, ...members });
    const { accounts } = await other.list({ limit: 1000 });
    const listed = accounts.filter(({ id }) => id === account.id);
    for (const found of [await other.find(account.id), await other.find(changed.id), updated, ...listed]) {
      expect(nullsOf(found)).toEqual([]);
      if (members !== undefinedMembers) expect(Object.keys(plain(found) ?? {}).sort()).toEqual(["id", "plan"]);
    }
  });

  it("reads what is null within rates as absent", async () => {
    const [store, other] = await make();
    const models = { a: { concurrent: null, requestsPerMinute: 1 }, b: { tokensPerMinute: null } };
    const rates = { requestsPerMinute: null, concurrent: 2, models };
    const account = newAccount({ rates });
    await store.put(account);
    const kept = { concurrent: 2, models: { a: { requestsPerMinute: 1 }, b: {} } };
    expect((await other.find(account.id))?.rates).toEqual(kept);
    await store.put(newAccount({ id: account.id }));
    expect((await other.update(account.id, { rates }))?.rates).toEqual(kept);
    expect(nullsOf(await store.find(account.id))).toEqual([]);
  });
}

function describeUpdates({ it }: Runner, make: MakeStores): void {
  it("changes what is given, takes away what is null, and leaves the rest", async () => {
    const [store, other] = await make();
    const account = fullAccount();
    await store.put(account);
    const expected: Record<string, unknown> = { ...account };
    const changes: AccountChange[] = [
      { status: "active", message: null },
      { plan: "basic" },
      { anchor: Date.UTC(2026, 1, 1) },
      { metadata: { a: "b" } },
      { rates: { concurrent: 3 } },
      { models: ["b", "a"] },
      { models: [] },
      { metadata: null, anchor: null },
      { status: "suspended", message: "Again." },
      { status: null },
      { rates: null },
      { priceFactor: 1.25 },
      { models: ["a"] },
      { models: null },
      { priceFactor: 1000, metadata: null },
      { priceFactor: null },
      {},
      { plan: undefined, message: undefined },
    ];
    for (const change of changes) {
      for (const [member, value] of Object.entries(change)) if (value !== undefined) expected[member] = value;
      expect(plain(await other.update(account.id, change))).toEqual(plain(expected as unknown as StoredAccount));
      expect(plain(await store.find(account.id))).toEqual(plain(expected as unknown as StoredAccount));
    }
  });

  it("loses none of the changes that are made at once", async () => {
    const stores = await make();
    const account = newAccount();
    await stores[0].put(account);
    const changes: AccountChange[] = [
      { plan: "basic" },
      { status: "suspended", message: "Pay first." },
      { anchor: 5 },
      { metadata: { a: 1 } },
      { rates: { concurrent: 1 } },
      { models: ["m"] },
      { priceFactor: 0.8 },
    ];
    for (let round = 0; round < 5; round++) {
      await stores[0].put({ ...account, status: "active" });
      await Promise.all(changes.map((change, index) => stores[(index + round) % 2]?.update(account.id, change)));
      expect(plain(await stores[1].find(account.id))).toEqual(Object.assign({ id: account.id }, ...changes));
    }
  });

  it("does not lift a suspension by a change of plan at the same time", async () => {
    const [store, other] = await make();
    for (let round = 0; round < 5; round++) {
      const account = newAccount();
      await store.put(account);
      await Promise.all([store.update(account.id, { status: "suspended" }), other.put({ ...account, plan: "basic" })]);
      expect(await store.find(account.id)).toMatchObject({ status: "suspended" });
    }
  });

  it("makes no account by an update", async () => {
    const [store] = await make();
    const { id } = newAccount();
    expect(await store.update(id, { plan: "pro" })).toBeUndefined();
    expect(await store.find(id)).toBeUndefined();
  });

  it.each<object>([
    { plan: null },
    { plan: "" },
    { status: "off" },
    { id: "other" },
    { message: "\ud83d" },
    { rates: { concurent: 1 } },
    { models: [""] },
    { priceFactor: 0 },
  ])("refuses the change %j", async (change) => {
    const [store] = await make();
    const account = newAccount();
    await store.put(account);
    await expect(store.update(account.id, change)).rejects.toBeInstanceOf(TypeError);
    expect(plain(await store.find(account.id))).toEqual(account);
  });
}

const conflict = { name: "AccountConflictError", status: 409 };

function describeVersions({ it }: Runner, make: MakeStores): void {
  type Stores = readonly [WritableAccountStore, WritableAccountStore];

  /** A test of two stores that share an account, if they keep versions. */
  const withVersions = (name: string, run: (stores: Stores, account: Required<Members>) => Promise<void>): void =>
    it(name, async ({ skip }) => {
      const stores = await make();
      if (stores[0].keepsVersions !== true) return skip("The store keeps no versions.");
      const account = fullAccount();
      await stores[0].put(account);
      await run(stores, account);
    });
  const versionOf = async (store: WritableAccountStore, id: string): Promise<string> => {
    const { version } = (await store.find(id)) ?? {};
    expect(typeof version).toBe("string");
    return version ?? "";
  };

  withVersions("gives what is read a version, which every change changes", async ([store, other], account) => {
    const { id } = account;
    const versions = [await versionOf(store, id)];
    expect(await versionOf(other, id)).toBe(versions[0]);
    const { accounts } = await other.list({ limit: 1000 });
    for (const listed of accounts) expect(typeof listed.version).toBe("string");
    const changes: AccountChange[] = [
      { plan: "basic" },
      { anchor: 5 },
      { anchor: null },
      { status: "active", message: null },
      { metadata: { a: 1 } },
      { metadata: { a: "1" } },
      { rates: { concurrent: 1 } },
      { rates: { models: { a: { concurrent: 1 } } } },
      { models: ["a", "b"] },
      { models: ["b", "a"] },
      { models: [] },
      { priceFactor: 0.8 },
      { priceFactor: 1 },
    ];
    for (const change of changes) {
      const { version } = (await store.update(id, change)) ?? {};
      expect(await versionOf(other, id)).toBe(version);
      versions.push(version ?? "");
    }
    await other.put({ id, plan: "basic" });
    versions.push(await versionOf(store, id));
    expect(new Set(versions).size).toBe(versions.length);
  });

  withVersions("puts only over the version that is expected", async ([store, other], account) => {
    const { id, status, message } = account;
    const version = await versionOf(store, id);
    await other.put({ id, plan: "first" }, { expected: version });
    // It lifts no suspension, either.
    expect(plain(await store.find(id))).toEqual({ id, plan: "first", status, message });
    await expect(store.put({ id, plan: "second" }, { expected: version })).rejects.toMatchObject(conflict);
    expect(plain(await store.find(id))).toEqual({ id, plan: "first", status, message });
    // A version within the record is not looked at.
    await store.put({ id, plan: "third", status: "active", version });
    expect(plain(await other.find(id))).toEqual({ id, plan: "third", status: "active" });
    await store.put({ id, plan: "fourth", status: "active" }, { expected: await versionOf(store, id) });
    await store.forget(id);
    await expect(store.put({ id, plan: "fifth" }, { expected: version })).rejects.toMatchObject(conflict);
    expect(await other.find(id)).toBeUndefined();
  });

  withVersions("puts only a new account where none is expected", async ([store, other], account) => {
    const fresh = newAccount({ rates: { concurrent: 1 } });
    await expect(store.put({ ...fresh, id: account.id }, { expected: null })).rejects.toMatchObject(conflict);
    expect(plain(await other.find(account.id))).toEqual(account);
    await store.put(fresh, { expected: null });
    expect(plain(await other.find(fresh.id))).toEqual(fresh);
    await expect(other.put(fresh, { expected: null })).rejects.toMatchObject(conflict);
    expect(await listIds(other, fresh.id, 1000)).toEqual([fresh.id]);
  });

  withVersions("updates only the version that is expected", async ([store, other], account) => {
    const { id } = account;
    const version = await versionOf(store, id);
    const changed = await other.update(id, { plan: "first", rates: null, status: null }, { expected: version });
    const { rates: _, status: __, ...rest } = account;
    expect(plain(changed)).toEqual({ ...rest, plan: "first" });
    expect(await store.find(id)).toEqual(changed);
    await expect(store.update(id, { plan: "second" }, { expected: version })).rejects.toMatchObject(conflict);
    expect(await other.find(id)).toEqual(changed);
    expect((await store.update(id, {}, { expected: changed?.version }))?.version).toBe(changed?.version);
    expect(await store.update(newAccount().id, { plan: "x" }, { expected: version })).toBeUndefined();
  });

  withVersions("lets one of many win that expect the same", async (stores, account) => {
    const store = (index: number) => stores[index % 2] as WritableAccountStore;
    const winners = (outcomes: PromiseSettledResult<unknown>[]): number[] => {
      for (const outcome of outcomes) {
        if (outcome.status === "rejected") expect(outcome.reason).toMatchObject(conflict);
      }
      return outcomes.flatMap(({ status }, index) => (status === "fulfilled" ? [index] : []));
    };
    const writers = Array.from({ length: 12 }, (_, index) => index);
    for (let round = 0; round < 5; round++) {
      const { id } = account;
      const expected = await versionOf(stores[0], id);
      const written = writers.map((index) =>
        index % 3 === 0
          ? store(index).put({ id, plan: `plan-${round}-${index}` }, { expected })
          : store(index).update(id, { plan: `plan-${round}-${index}` }, { expected }),
      );
      const [winner, ...others] = winners(await Promise.allSettled(written));
      expect(others).toEqual([]);
      expect((await stores[1].find(id))?.plan).toBe(`plan-${round}-${winner}`);

      const fresh = newAccount();
      const made = writers.map((index) => store(index).put({ ...fresh, plan: `new-${index}` }, { expected: null }));
      const [maker, ...others2] = winners(await Promise.allSettled(made));
      expect(others2).toEqual([]);
      expect((await stores[0].find(fresh.id))?.plan).toBe(`new-${maker}`);
    }
  });

  withVersions("loses no update to a put that expects what was before it", async ([store, other], account) => {
    for (let round = 0; round < 10; round++) {
      const id = `${account.id}-${round}`;
      await store.put({ id, plan: "pro" });
      const expected = await versionOf(other, id);
      const put = store
        .put({ id, plan: "basic" }, { expected })
        .catch((error) => expect(error).toMatchObject(conflict));
      await Promise.all([put, other.update(id, { rates: { concurrent: round } })]);
      expect((await store.find(id))?.rates).toEqual({ concurrent: round });
    }
  });

  it.each<object>([{ expected: 5 }, { expect: "v" }])("refuses the condition %j", async (condition) => {
    const [store] = await make();
    if (store.keepsVersions !== true) return;
    const account = newAccount();
    await store.put(account);
    await expect(store.put({ ...account, plan: "x" }, condition)).rejects.toBeInstanceOf(TypeError);
    await expect(store.update(account.id, { plan: "x" }, condition)).rejects.toBeInstanceOf(TypeError);
    expect(plain(await store.find(account.id))).toEqual(account);
  });
}

function describeRaces({ it }: Runner, make: MakeStores): void {
  it("keeps both a new plan and new rates that two processes give at the same time", async () => {
    const [store, other] = await make();
    const { id } = newAccount();
    for (let round = 0; round < 50; round++) {
      await store.put({ id, plan: "before" });
      const changes = [{ plan: `plan-${round}` }, { rates: { concurrent: round } }];
      const [one, second] = round % 2 === 0 ? changes : changes.toReversed();
      await Promise.all([store.update(id, one ?? {}), other.update(id, second ?? {})]);
      expect(plain(await store.find(id))).toEqual({ id, ...changes[0], ...changes[1] });
    }
  });
}

/** The ids of all pages that begin so, in their order. */
async function listIds(store: WritableAccountStore, start: string, limit: number): Promise<string[]> {
  const ids: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await store.list({ limit, cursor });
    // A store that gives the same page again must not hang.
    expect(ids).not.toContain(page.accounts[0]?.id);
    expect(page.accounts.length).toBeLessThanOrEqual(limit);
    ids.push(...page.accounts.map(({ id }) => id));
    cursor = page.cursor;
  } while (cursor !== undefined);
  return ids.filter((id) => id.startsWith(start));
}

function describePages({ it }: Runner, make: MakeStores): void {
  it("lists every account once, in one order, whatever the pages are", async () => {
    const [store, other] = await make();
    const start = unique("paged");
    const ends = ["", " ", "'", "A", "Z", "a", "z", "ä", "\u00df", "\uffee", "\u{1f600}", "10", "9", "%", "_"];
    const accounts = ends.map((end) => newAccount({ id: start + end, metadata: { end } }));
    for (const account of accounts) await store.put(account);
    const order = await listIds(other, start, 1000);
    expect([...order].sort()).toEqual(accounts.map(({ id }) => id).sort());
    for (const limit of [1, 2, 7]) expect(await listIds(store, start, limit)).toEqual(order);
    const { accounts: listed } = await store.list({ limit: 1000 });
    const found = listed.filter(({ id }) => id.startsWith(start)).map(plain);
    for (const account of accounts) expect(found).toContainEqual(plain(account));
  });

  it("neither skips nor repeats those that stay, while others come and go", async () => {
    const [store] = await make();
    const start = unique("moving");
    const ids = Array.from({ length: 12 }, (_, index) => `${start}-${10 + index}`);
    for (const id of ids) await store.put({ id, plan: "pro" });
    const listed: string[] = [];
    let cursor: string | undefined;
    let gone = 0;
    do {
      const page = await store.list({ limit: 3, cursor });
      const mine = page.accounts.map(({ id }) => id).filter((id) => id.startsWith(start));
      expect(listed).not.toContain(mine[0]);
      listed.push(...mine);
      // The one that the cursor stands on goes.
      const last = mine.at(-1);
      if (last !== undefined && gone < 3) {
        await store.forget(last);
        await store.put({ id: `${last}-later`, plan: "pro" });
        gone++;
      }
      cursor = page.cursor;
    } while (cursor !== undefined);
    expect(listed.filter((id) => ids.includes(id))).toEqual(ids);
  });

  it.each<object>([{ limit: 0 }, { limit: 1001 }, { limit: 1.5 }, { cursor: "" }, { page: 2 }])(
    "refuses the page %j",
    async (page) => {
      const [store] = await make();
      await expect(store.list(page)).rejects.toBeInstanceOf(TypeError);
    },
  );
}

const table: RecordTable<WritableAccountStore> = {
  longestId: 128,
  replaces: true,
  put: (store, id, mark) => store.put({ id, plan: `${mark}`, metadata: { mark } }),
  async find(store, id) {
    const account = await store.find(id);
    return account ? [Number(account.plan), Number(account.metadata?.["mark"])] : [];
  },
  async remove(store, id) {
    await store.forget(id);
    return undefined;
  },
  update: (store, id) => store.update(id, { status: "suspended" }),
  /** They expect what is there. */
  changes(store, id) {
    if (store.keepsVersions !== true) return [];
    const version = async () => (await store.find(id))?.version;
    return [
      async () => store.update(id, { plan: "basic" }, { expected: await version() }),
      async () => store.put({ id, plan: "pro" }, { expected: await version() }),
    ];
  },
};
