import type { KeyChange, KeyMetadata, StoredKey, WritableKeyStore } from "../records/keys/key-store.js";
import { hashKey } from "../records/keys/managed-key.js";
import { confusableTexts } from "./confusable-texts.js";
import { unique } from "./credit-ledger-fixture.js";
import { eventually, expect } from "./expect.js";
import { limitRules, moveRules, touchRules } from "./key-store/key-rules.js";
import { describeRecords, type RecordTable } from "./records/describe-records.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

const created = Date.UTC(2026, 2, 11, 9, 30);

function newKey(more: Partial<StoredKey> = {}): StoredKey {
  const id = unique("key");
  return {
    id,
    hash: hashKey(id),
    hint: "sk-Ab3d…x9Qz",
    account: unique("account"),
    plan: "pro",
    createdAt: created,
    ...more,
  };
}

const fullKey = (): Required<Omit<StoredKey, "lastUsedAt">> =>
  newKey({
    name: 'Ann\'s "first" key; größer\n\u{1f600}',
    expiresAt: Date.UTC(2100, 0, 1),
    revokedAt: Date.UTC(2030, 5, 1),
    models: ["acme/*", "o'neill/100%_\\model"],
    anchor: Date.UTC(1969, 0, 31, 10),
    enabled: false,
    metadata: { team: "search", "größer \u{1f600}": "a\nb" },
    credits: { day: 0.1, week: 7, month: 0, total: 1e9 },
    rates: {
      requestsPerMinute: { limit: 60, burst: 5 },
      tokensPerMinute: { limit: 1_000_000_000, count: "output", cached: true },
      concurrent: 0,
      models: { "acme/*": { requestsPerMinute: 0 }, "o'neill/100%_\\größer": { concurrent: 2 } },
    },
    tags: { member: "O'Neill\u{1f600}", "cost.center-1": "größer" },
    lineage: "key_' \u{1f600}",
  }) as Required<StoredKey>;

/** Another value of each member that can change. */
const changed: Readonly<Record<keyof KeyChange, unknown>> = {
  account: "another",
  plan: "another",
  name: "another",
  expiresAt: 1,
  revokedAt: 1,
  enabled: false,
  models: [],
  anchor: 1,
  metadata: { team: "red" },
  credits: { day: 1 },
  rates: { concurrent: 1 },
  tags: { team: "red" },
};

/** Without the members that are not there, be it as `null` or `undefined`. */
function plain(key: StoredKey | null | undefined): object | undefined {
  return key ? Object.fromEntries(Object.entries(key).filter(([, value]) => value != null)) : undefined;
}

/** Members of every name, `__proto__` too, in an order that does not matter. */
function sortedMembers(members: object | null | undefined): [string, unknown][] {
  return Object.entries(members ?? {}).sort(([one], [other]) => (one < other ? -1 : 1));
}

/** Of a key by its id: another text of each other id, whatever is in it. */
const hashOf = (id: string) => hashKey(JSON.stringify(id));
const accountOf = (id: string) => hashOf(id).slice(0, 40);

const table: RecordTable<WritableKeyStore> = {
  longestId: 256,
  replaces: false,
  put: (store, id, mark) =>
    store.insert(newKey({ id, hash: hashOf(id), account: accountOf(id), metadata: { mark: `${mark}` } })),
  async find(store, id) {
    const found = [await store.get(id), await store.find(hashOf(id)), await store.list(accountOf(id))].flat();
    return found.flatMap((key) => (key ? Number(key.metadata?.["mark"]) : []));
  },
  remove: async (store, id) => (await store.forget(accountOf(id))).length > 0,
  update: (store, id) => store.update(id, { revokedAt: 1 }),
  notice: hashOf,
};

/**
 * Defines the tests that every {@link WritableKeyStore} must pass.
 *
 * @param make - makes two stores that share their data, as two processes do. They need not be empty: ids are unique.
 * @param runner - default: see {@link TestRunner}.
 */
export function describeWritableKeyStore(
  name: string,
  make: () => Promise<readonly [WritableKeyStore, WritableKeyStore]>,
  runner?: TestRunner,
): void {
  const defined = testRunnerOf(runner);
  const { describe, it } = defined;
  describe(`${name}: the writable key store contract`, () => {
    describeRecords(defined, make, table);

    it.each(["", ...confusableTexts])("takes %j in no name, and finds nothing by it", async (text) => {
      const [store] = await make();
      const twins = ["", "\ufffd", "a"].map((end) => newKey({ account: unique("account") + end }));
      for (const twin of twins) await store.insert(twin);
      const [key] = twins as [StoredKey];
      for (const member of ["hash", "account", "plan"] as const) {
        const wrong = text === "" ? text : `${key[member]}${text}`;
        await expect(store.insert(newKey({ [member]: wrong }))).rejects.toBeInstanceOf(TypeError);
        expect(await store.find(wrong)).toBeUndefined();
        expect(await store.list(wrong)).toEqual([]);
        expect(await store.forget(wrong)).toEqual([]);
      }
      await expect(store.insert(newKey({ models: ["m", text] }))).rejects.toBeInstanceOf(TypeError);
      await expect(store.update(key.id, { models: [text] })).rejects.toBeInstanceOf(TypeError);
      await expect(store.update(key.id, { plan: text })).rejects.toBeInstanceOf(TypeError);
      for (const twin of twins) expect((await store.list(twin.account)).map(plain)).toEqual([plain(twin)]);
    });

    it.each([
      ["all", fullKey],
      ["few", newKey],
    ])("finds what was inserted, with %s members, from everywhere", async (_, makeKey) => {
      const key = makeKey();
      const stores = await make();
      await stores[0].insert(key);
      for (const store of stores) {
        expect(plain(await store.find(key.hash))).toEqual(plain(key));
        expect(plain(await store.get(key.id))).toEqual(plain(key));
        expect((await store.list(key.account)).map(plain)).toEqual([plain(key)]);
      }
    });

    it("keeps a key without a plan, and takes a plan away", async () => {
      const [store, other] = await make();
      const { plan: _, ...planless } = newKey();
      await store.insert(planless);
      expect(plain(await other.find(planless.hash))).toEqual(planless);
      expect(await store.update(planless.id, { plan: "basic" })).toMatchObject({ plan: "basic" });
      expect(plain(await other.update(planless.id, { plan: null }))).toEqual(planless);
      expect((await store.list(planless.account)).map(plain)).toEqual([planless]);
    });

    it("reads what was null as absent", async () => {
      const [store, other] = await make();
      const none = {
        ...{ plan: null, name: null, expiresAt: null, revokedAt: null, enabled: null, models: null, anchor: null },
        ...{ metadata: null, credits: null, rates: null, tags: null },
      };
      const inserted = newKey({ ...none, lineage: null, lastUsedAt: null });
      const { lineage: _, ...changed } = fullKey();
      for (const key of [inserted, changed]) await store.insert(key);
      const updated = await store.update(changed.id, none);
      for (const { id, hash, account, hint } of [inserted, changed]) {
        const found = [await other.find(hash), await other.get(id), ...(await other.list(account))];
        for (const key of [...found, ...(id === changed.id ? [updated] : [])]) {
          expect(key).toEqual({ id, hash, account, hint, createdAt: created });
        }
      }
    });

    it("reads what is null within caps and rates as absent", async () => {
      const [store, other] = await make();
      const credits = { day: 5, week: null };
      const rates = { concurrent: 1, requestsPerMinute: null, models: { a: { tokensPerMinute: null } } };
      const inserted = newKey({ credits, rates });
      const changed = newKey();
      for (const key of [inserted, changed]) await store.insert(key);
      await store.update(changed.id, { credits, rates });
      for (const { id } of [inserted, changed]) {
        const found = await other.get(id);
        expect(found?.credits).toEqual({ day: 5 });
        expect(found?.rates).toEqual({ concurrent: 1, models: { a: {} } });
      }
    });

    it("tells a key for no model from one for all", async () => {
      const [store] = await make();
      const key = newKey({ models: [] });
      await store.insert(key);
      expect((await store.find(key.hash))?.models).toEqual([]);
      expect((await store.update(key.id, { models: null }))?.models ?? null).toBeNull();
    });

    it("takes ids of 256 characters and accounts of 128, and no longer ones", async () => {
      const [store] = await make();
      const [id, plan, account] = [unique("key"), unique("plan"), unique("account")];
      for (const character of ["a", "\uffee", "\u{1f600}"]) {
        const long = (text: string, length: number) =>
          text + character.repeat((length - text.length) / character.length);
        const key = newKey({ id: long(`${id}`.padEnd(100), 256), plan: long(`${plan}`.padEnd(100), 256) });
        const whole = {
          ...key,
          account: long(account.padEnd(100), 128),
          models: [long("m ", 256)],
          name: long("", 200),
        };
        await store.insert(whole);
        expect(plain(await store.find(key.hash))).toEqual(plain(whole));
        expect(plain(await store.get(key.id))).toEqual(plain(whole));
        expect(await store.forget(whole.account)).toEqual([key.hash]);
        for (const tooLong of [{ id: `${key.id}a` }, { plan: `${key.plan}a` }, { account: `${whole.account}a` }]) {
          await expect(store.insert(newKey(tooLong))).rejects.toBeInstanceOf(TypeError);
        }
        expect(await store.get(`${key.id}a`)).toBeUndefined();
      }
    });

    it.each(["\0", "a\ud83d", "\ude00"])("takes no name with %j, but one of several lines", async (text) => {
      const [store] = await make();
      const key = newKey({ name: "one\ntwo\u{1f600}" });
      await store.insert(key);
      await expect(store.insert(newKey({ name: text }))).rejects.toBeInstanceOf(TypeError);
      await expect(store.update(key.id, { name: text })).rejects.toBeInstanceOf(TypeError);
      expect(plain(await store.get(key.id))).toEqual(plain(key));
    });

    it.each([
      ["names of every object", `{"__proto__":"a","constructor":"b","toString":"c","hasOwnProperty":"d","length":"e"}`],
      ["names that are numbers", `{"10":"a","9":"b","-1":"c","1e3":"d"}`],
      ["marks of other languages", JSON.stringify({ "a.b": "$1", "' OR 1=1 --": "%s", "\\u0000": "\\", "\n": '"}' })],
      [
        "other scripts",
        JSON.stringify({ "\u{1f600}": "\u{1f469}\u200d\u{1f4bb}", "e\u0301": "1", "\u00e9": "2", "\ufeff": "\ufffe" }),
      ],
    ])("keeps metadata as it is: %s", async (_, json) => {
      const [store, other] = await make();
      const key = newKey({ metadata: JSON.parse(json) });
      await store.insert(key);
      const second = newKey();
      await store.insert(second);
      await store.update(second.id, { metadata: JSON.parse(json) });
      for (const { id, hash } of [key, second]) {
        for (const found of [await other.get(id), await other.find(hash), await store.update(id, { name: "x" })]) {
          expect(sortedMembers(found?.metadata)).toEqual(sortedMembers(JSON.parse(json)));
        }
      }
    });

    it("takes 16 members of metadata with names of 64 and values of 512 characters, and no more", async () => {
      const [store, other] = await make();
      for (const character of ["a", "\uffee", "\u{1f600}"]) {
        const long = (text: string, length: number) =>
          text + character.repeat((length - text.length) / character.length);
        const metadata = Object.fromEntries(
          Array.from({ length: 16 }, (_, index) => [long(`${10 + index}`, 64), long("", 512)]),
        );
        const key = newKey({ metadata });
        await store.insert(key);
        expect((await other.get(key.id))?.metadata).toEqual(metadata);
        const tooMuch = [{ ...metadata, more: "" }, { [character.repeat(65)]: "" }, { name: character.repeat(513) }];
        for (const refused of tooMuch) {
          await expect(store.insert(newKey({ metadata: refused }))).rejects.toBeInstanceOf(TypeError);
          await expect(other.update(key.id, { metadata: refused })).rejects.toBeInstanceOf(TypeError);
        }
        expect((await other.get(key.id))?.metadata).toEqual(metadata);
      }
    });

    it.each([
      { name: 1 },
      { name: null },
      { name: ["a"] },
      { name: "\0" },
      { "a\ud83d": "b" },
      { name: "\ude00" },
      ["a"],
      "text",
      7,
    ])("takes no metadata like %j", async (metadata) => {
      const [store] = await make();
      const key = newKey({ metadata: { kept: "a" } });
      await store.insert(key);
      const refused = metadata as unknown as KeyMetadata;
      await expect(store.insert(newKey({ metadata: refused }))).rejects.toBeInstanceOf(TypeError);
      await expect(store.update(key.id, { metadata: refused })).rejects.toBeInstanceOf(TypeError);
      expect(plain(await store.get(key.id))).toEqual(plain(key));
    });

    it("finds a key by its hash only, to the last digit and as it is written", async () => {
      const [store] = await make();
      const key = newKey();
      await store.insert(key);
      for (const other of [key.id, key.hash.slice(1), key.hash.toUpperCase(), `${key.hash} `]) {
        expect(await store.find(other)).toBeUndefined();
      }
      expect(await store.get(key.id.toUpperCase())).toBeUndefined();
    });

    it("refuses an id or a hash that is taken, and keeps the first key", async () => {
      const [store, other] = await make();
      const key = newKey();
      await store.insert(key);
      await expect(other.insert(newKey({ id: key.id }))).rejects.toBeInstanceOf(Error);
      await expect(other.insert(newKey({ hash: key.hash }))).rejects.toBeInstanceOf(Error);
      await expect(other.insert(key)).rejects.toBeInstanceOf(Error);
      expect(plain(await store.find(key.hash))).toEqual(plain(key));
      expect(await store.list(key.account)).toHaveLength(1);
    });

    it("lets one of many win that insert the same key at once", async () => {
      const stores = await make();
      const key = newKey();
      const inserts = Array.from({ length: 10 }, (_, index) => stores[index % 2]?.insert(key));
      const results = await Promise.allSettled(inserts);
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
    });

    it("lists an account's keys, the oldest first, revoked and expired ones too", async () => {
      const [store] = await make();
      const account = unique("account");
      const keys = [3, 1, 2].map((age) => newKey({ account, createdAt: created - age, revokedAt: 1, expiresAt: 2 }));
      for (const key of [...keys, newKey()]) await store.insert(key);
      expect((await store.list(account)).map(({ createdAt }) => created - createdAt)).toEqual([3, 2, 1]);
    });

    it("lists keys of one millisecond by their ids, in whatever order they were inserted", async () => {
      const [store, other] = await make();
      const account = unique("account");
      const ends = ["b", "B", "a", "_", "-", "10", "9", "\u{1f600}", "\uffee", "\u00e9"];
      const keys = ends.map((end) => newKey({ account, id: `${account} ${end}` }));
      const older = newKey({ account, id: `${account} z`, createdAt: created - 1 });
      for (const key of [...keys, older]) await store.insert(key);
      const ids = [older.id, ...keys.map(({ id }) => id).sort()];
      for (const each of [store, other]) expect((await each.list(account)).map(({ id }) => id)).toEqual(ids);
    });

    it("leaves a revoked key revoked when it is enabled", async () => {
      const [store, other] = await make();
      const key = newKey({ enabled: false, revokedAt: created });
      await store.insert(key);
      for (const enabled of [true, null]) {
        expect((await other.update(key.id, { enabled }))?.revokedAt).toBe(created);
        expect((await store.find(key.hash))?.enabled ?? true).toBe(true);
        await store.update(key.id, { enabled: false });
      }
    });

    it.each<KeyChange>([
      { plan: "basic" },
      { name: "another" },
      { expiresAt: Date.UTC(2027, 0, 1) },
      { revokedAt: 0 },
      { models: ["b", "a"] },
      { anchor: -1 },
      { enabled: true },
      { enabled: false },
      { metadata: { customer: "cus_1" } },
      { metadata: {} },
      { credits: { day: 2, total: 0 } },
      { credits: {} },
      { rates: { tokensPerMinute: 5, models: {} } },
      { tags: { team: "red" } },
      { tags: {} },
      { plan: "basic", name: "another", models: [], anchor: created },
      {},
    ])("changes %j and nothing else", async (change) => {
      const [store, other] = await make();
      for (const key of [fullKey(), newKey()]) {
        await store.insert(key);
        const expected = plain({ ...key, ...change });
        expect(plain(await store.update(key.id, change))).toEqual(expected);
        expect(plain(await other.find(key.hash))).toEqual(expected);
      }
    });

    it("takes away what is changed to null, and leaves alone what is undefined", async () => {
      const [store] = await make();
      const key = fullKey();
      await store.insert(key);
      const nothing = { plan: undefined, name: undefined, expiresAt: undefined, revokedAt: undefined };
      expect(plain(await store.update(key.id, nothing as unknown as KeyChange))).toEqual(plain(key));
      const gone = {
        name: null,
        expiresAt: null,
        revokedAt: null,
        models: null,
        anchor: null,
        enabled: null,
        metadata: null,
        credits: null,
        rates: null,
        tags: null,
      };
      const { id, hash, hint, account, plan, createdAt, lineage } = key;
      expect(plain(await store.update(id, gone))).toEqual({ id, hash, hint, account, plan, createdAt, lineage });
    });

    it("lets no change touch what a key is", async () => {
      const [store] = await make();
      const [key, bystander] = [newKey(), newKey()];
      for (const each of [key, bystander]) await store.insert(each);
      const hostile = { id: unique("key"), hash: hashKey("h"), hint: "another", createdAt: 1, "plan = 'x' --": 1 };
      await store.update(key.id, hostile as KeyChange).catch(() => {});
      for (const each of [key, bystander]) expect(plain(await store.get(each.id))).toEqual(plain(each));
    });

    it("loses none of the changes that come at once", async () => {
      const [store, other] = await make();
      const key = newKey();
      await store.insert(key);
      await Promise.all([
        store.update(key.id, { plan: "basic" }),
        other.update(key.id, { name: "another" }),
        store.update(key.id, { models: ["m"] }),
        other.update(key.id, { enabled: false }),
        store.update(key.id, { metadata: { team: "red" } }),
        other.update(key.id, { credits: { day: 1 } }),
        store.update(key.id, { rates: { concurrent: 1 } }),
        other.update(key.id, { revokedAt: 7 }),
        store.update(key.id, { tags: { member: "42" } }),
      ]);
      expect(await store.get(key.id)).toMatchObject({
        ...{ plan: "basic", name: "another", models: ["m"], revokedAt: 7 },
        ...{ enabled: false, metadata: { team: "red" }, credits: { day: 1 }, rates: { concurrent: 1 } },
        tags: { member: "42" },
      });
    });

    it("moves a revocation to an earlier moment, never to a later one", async () => {
      const [store, other] = await make();
      for (const [revokedAt, later] of [
        [created, created + 60_000],
        [0, 1],
        // As numbers, not as texts.
        [9_999, 10_000],
        [-2, -1],
      ] as const) {
        const key = newKey();
        await store.insert(key);
        expect((await store.update(key.id, { revokedAt: later }))?.revokedAt).toBe(later);
        expect((await other.update(key.id, { revokedAt }))?.revokedAt).toBe(revokedAt);
        const changed = await store.update(key.id, { revokedAt: later, name: "another" });
        expect(plain(changed)).toEqual(plain({ ...key, revokedAt, name: "another" }));
        expect((await other.find(key.hash))?.revokedAt).toBe(revokedAt);
      }
    });

    it("keeps the earliest of the revocations that come at once", async () => {
      const [store, other] = await make();
      const key = newKey();
      await store.insert(key);
      const moments = [5, 3, 8, 1, 9, 2, 7, 4, 6, 10].map((minutes) => created + minutes * 60_000);
      await Promise.all(
        moments.map((revokedAt, index) => (index % 2 === 0 ? store : other).update(key.id, { revokedAt })),
      );
      for (const each of [store, other]) expect((await each.get(key.id))?.revokedAt).toBe(Math.min(...moments));
    });

    it("forgets an account's keys, and answers their hashes", async () => {
      const [store, other] = await make();
      const account = unique("account");
      const keys = [newKey({ account }), newKey({ account, revokedAt: 1 })];
      const bystander = newKey();
      for (const key of [...keys, bystander]) await store.insert(key);
      expect([...(await store.forget(account))].sort()).toEqual(keys.map(({ hash }) => hash).sort());
      expect(await other.list(account)).toEqual([]);
      for (const { hash, id } of keys) {
        expect(await other.find(hash)).toBeUndefined();
        expect(await other.get(id)).toBeUndefined();
      }
      expect(await store.forget(account)).toEqual([]);
      expect(plain(await other.find(bystander.hash))).toEqual(plain(bystander));
    });

    it("is not changed by what a caller does to its objects", async () => {
      const [store] = await make();
      const models = ["m"];
      const metadata = { team: "red" };
      const key = newKey({ models, metadata });
      await store.insert(key);
      models.push("other");
      metadata.team = "blue";
      const found = await store.find(key.hash);
      Object.assign(found ?? {}, { plan: "other" });
      Object.assign(found?.metadata ?? {}, { team: "green" });
      expect(await store.find(key.hash)).toMatchObject({ plan: "pro", models: ["m"], metadata: { team: "red" } });
    });

    touchRules(it, make, newKey);
    limitRules(it, make, newKey);
    moveRules(it, make, newKey);

    for (const [name, value] of Object.entries(changed)) {
      it(`tells its subscribers that ${name} alone has changed`, async ({ skip }) => {
        const [store, other] = await make();
        if (!store.subscribe) return skip("The store cannot tell.");
        const heard: string[] = [];
        const end = await store.subscribe((hash) => heard.push(hash));
        const key = newKey();
        await other.insert(key);
        const heardOfKey = () => heard.filter((hash) => hash === key.hash).length;
        await eventually(() => expect(heardOfKey()).toEqual(1));
        await other.update(key.id, { [name]: value });
        await eventually(() => expect(heardOfKey()).toEqual(2));
        await end();
      });
    }
  });
}
