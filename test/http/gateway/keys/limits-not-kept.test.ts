import { afterEach, describe, expect, it } from "vitest";
import type { KeyChange, StoredKey, WritableKeyStore } from "../../../../src/records/keys/key-store.js";
import { memoryKeyStore } from "../../../../src/stores/memory/memory-stores.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(() => test?.close());

type Limit = "account" | "enabled" | "credits" | "rates" | "tags" | "lineage";

/** A store of the host's own, with columns for all members but these. */
function storeWithout(...members: Limit[]): WritableKeyStore {
  const store = memoryKeyStore();
  const without = <Members extends object>(record: Members): Members =>
    Object.fromEntries(Object.entries(record).filter(([name]) => !members.includes(name as Limit))) as Members;
  return {
    ...store,
    insert: (key: StoredKey) => store.insert({ ...without(key), account: key.account }),
    update: (id: string, change: KeyChange) => store.update(id, without(change)),
  };
}

async function start(keys: WritableKeyStore) {
  test = await startTestGateway({ keys });
  return test.gateway.keys;
}

const limits = {
  enabled: false,
  credits: { day: 5 },
  rates: { models: JSON.parse('{"__proto__":{"concurrent":1}}') },
  tags: { member: "42" },
} as const;

describe("a key store that drops what limits a key", () => {
  it.each(["enabled", "credits", "rates", "tags"] as const)("is noticed when a key is made with %s", async (member) => {
    const store = storeWithout(member);
    const keys = await start(store);
    const made = keys.create({ account: "a", plan: "pro", [member]: limits[member] });
    await expect(made).rejects.toThrow(
      `gateway.keys.create: the key store does not keep \`${member}\`, so no such key was made.`,
    );
    await expect(made).rejects.toBeInstanceOf(TypeError);
    expect((await keys.list("a")).map(({ revokedAt }) => revokedAt)).toEqual([expect.any(Number)]);
  });

  it.each(["enabled", "credits", "rates", "tags"] as const)("is noticed when a key is given %s", async (member) => {
    const keys = await start(storeWithout(member));
    const { id } = await keys.create({ account: "a", plan: "pro" });
    await expect(keys.update(id, { [member]: limits[member] })).rejects.toThrow(
      `gateway.keys.update: the key store does not keep \`${member}\`, so the key works without. Revoke it instead.`,
    );
    for (const none of [null, undefined]) await keys.update(id, { [member]: none });
  });

  it("is noticed when it moves no key", async () => {
    const keys = await start(storeWithout("account"));
    const { id } = await keys.create({ account: "a", plan: "pro" });
    await expect(keys.update(id, { account: "b" })).rejects.toThrow(
      "gateway.keys.update: the key store does not move keys to other accounts. Revoke it, and make a new one.",
    );
  });

  it("is noticed when it keeps a part of them only", async () => {
    const store = memoryKeyStore();
    const withDay = ({ credits, ...key }: StoredKey) =>
      store.insert({ ...key, ...(credits && { credits: { day: credits.day } }) });
    const keys = await start({ ...store, insert: withDay });
    await keys.create({ account: "a", plan: "pro", credits: { day: 5, week: null } });
    await expect(keys.create({ account: "a", plan: "pro", credits: { day: 5, week: 9 } })).rejects.toThrow(/`credits`/);
  });

  it("is noticed when a key with caps is rotated, which would count them anew", async () => {
    const keys = await start(storeWithout("lineage"));
    const capped = await keys.create({ account: "a", plan: "pro", credits: { total: 5 } });
    await expect(keys.rotate(capped.id)).rejects.toThrow(/gateway\.keys\.rotate: .* `lineage`/);
    const inForce = (await keys.list("a")).filter(({ revokedAt }) => revokedAt === null);
    expect(inForce.map(({ id }) => id)).toEqual([capped.id]);
    const free = await keys.create({ account: "a", plan: "pro" });
    expect((await keys.rotate(free.id)).lineage).toBe(free.id);
  });

  it("names all that is not kept", async () => {
    const keys = await start(storeWithout("enabled", "credits", "rates"));
    await expect(keys.create({ account: "a", plan: "pro", ...limits })).rejects.toThrow(
      /`enabled` and `credits` and `rates`/,
    );
  });

  it("leaves no key in force when it cannot be read", async () => {
    const store = memoryKeyStore();
    const find = () => Promise.reject(new Error("down"));
    const keys = await start({ ...store, find });
    const made = keys.create({ account: "a", plan: "pro", credits: { day: 5 } });
    await expect(made).rejects.toMatchObject({ status: 503, cause: { message: "down" } });
    expect((await keys.list("a")).filter(({ revokedAt }) => revokedAt === null)).toEqual([]);
    // Without limits there is nothing to read.
    await keys.create({ account: "a", plan: "pro" });
  });
});

describe("limits of keys", () => {
  it.each<[string, Record<string, unknown>, RegExp]>([
    ["a misspelled cap", { credits: { daily: 5 } }, /credits: There is no member `daily` \(there are `day`/],
    ["a cap below nothing", { credits: { day: -1 } }, /credits\.day: must not be negative/],
    ["a misspelled rate", { rates: { requestPerMinute: 5 } }, /did you mean `requestsPerMinute`/],
    ["a misspelled burst", { rates: { requestsPerMinute: { limit: 5, brust: 1 } } }, /did you mean `burst`/],
    ["a rate that is no number", { rates: { requestsPerMinute: "5" } }, /or \{ limit, burst \}/],
    ["tokens of no kind", { rates: { tokensPerMinute: { limit: 5, count: "all" } } }, /"total", "input" or "output"/],
    ["a misspelled rate of a pattern", { rates: { models: { m: { concurent: 1 } } } }, /did you mean `concurrent`/],
    ["a pattern without a name", { rates: { models: { "": {} } } }, /its name must not be empty/],
    ["a lineage", { lineage: "key_other" }, /no member `lineage`/],
  ])("are not taken with %s", async (_, members, message) => {
    const keys = await start(memoryKeyStore());
    const { id } = await keys.create({ account: "a", plan: "pro" });
    await expect(keys.create({ account: "a", plan: "pro", ...members })).rejects.toThrow(message);
    await expect(keys.update(id, members)).rejects.toThrow(message);
    await expect(keys.update(id, members)).rejects.toBeInstanceOf(TypeError);
  });
});
