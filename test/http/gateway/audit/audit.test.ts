import { afterEach, describe, expect, it } from "vitest";
import type { AuditEntry } from "../../../../src/audit/audit-trail.js";
import type { Gateway } from "../../../../src/gateway/gateway.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { hashKey } from "../../../../src/records/keys/managed-key.js";
import { memoryAuditTrail } from "../../../../src/stores/memory/memory-audit-trail.js";
import {
  memoryAccountStore,
  memoryBudgetStore,
  memoryKeyStore,
  memoryModelStore,
} from "../../../../src/stores/memory/memory-stores.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";
import { callMethod, validInput } from "../statuses/methods.js";

const tests: TestGateway[] = [];
afterEach(async () => {
  for (const test of tests.splice(0)) await test.close();
});

async function start(options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const accounts = memoryAccountStore([{ id: "acct_pro", plan: "pro" }]);
  const stores = { accounts, budgets: memoryBudgetStore(), modelStore: memoryModelStore() };
  const test = await startTestGateway({ ...stores, audit: memoryAuditTrail(), ...options });
  tests.push(test);
  return test;
}

const author = { by: "user_ann", note: "as agreed" };
/** What changes nothing that is kept, or is a charge, which the journal has. */
const reads = ["get", "list", "check", "balance", "hold", "history", "statement", "usage"];
/** Methods whose last object is that of what they do. */
const inPlace = ["topUp", "deduct", "grant", "suspend", "rotate"];
/** How many arguments come before the author. */
const places: Readonly<Record<string, number>> = {
  ...{ "accounts.reset": 2, "accounts.update": 2, "keys.update": 2 },
  ...{ "budgets.put": 2, "budgets.remove": 2 },
};

type AnyArea = "keys" | "plans" | "models" | "budgets" | "accounts";

/** Every method of the management API that changes something, wherever it is. */
function changesOf(gateway: Gateway): readonly (readonly [AnyArea, string])[] {
  const areas = Object.entries(gateway).filter(([name, area]) => name !== "audit" && typeof area === "object");
  return areas.flatMap(([area, methods]) =>
    Object.entries(methods as object).flatMap(([name, method]) =>
      typeof method === "function" && !reads.includes(name) ? [[area as AnyArea, name] as const] : [],
    ),
  );
}

function withAuthor(area: string, method: string, input: readonly unknown[]): readonly unknown[] {
  if (inPlace.includes(method)) return [input[0], { ...(input[1] as object | undefined), ...author }];
  const before = Array.from({ length: places[`${area}.${method}`] ?? 1 }, (_, index) => input[index]);
  return [...before, author];
}

const entriesOf = async ({ audit }: Gateway): Promise<readonly AuditEntry[]> => (await audit.list()).entries;

describe("gateway.audit", () => {
  it("has an entry of every method that changes something, with who did it and why", async () => {
    const { gateway } = await start();
    for (const [area, method] of changesOf(gateway)) {
      const before = (await entriesOf(gateway)).length;
      const input = validInput[area]?.[method];
      expect(input, `gateway.${area}.${method} needs an input in test/http/gateway/statuses/methods.ts`).toBeDefined();
      await callMethod(gateway, area, method, withAuthor(area, method, input ?? []));
      const entries = await entriesOf(gateway);
      expect([method, entries.length]).toEqual([method, before + 1]);
      expect(entries[0]).toMatchObject({ action: `${area}.${method}`, outcome: "done", ...author });
    }
    expect(gateway.audit.lost).toBe(0);
  });

  it("shows the move of a key to the account that it leaves, and to the one that it joins", async () => {
    const { gateway } = await start();
    await gateway.accounts.put({ id: "acct_new", plan: "pro" });
    await gateway.keys.update("key_pro", { account: "acct_new" }, author);
    await gateway.keys.update("key_pro", { account: "acct_new", name: "laptop" });
    for (const account of ["acct_pro", "acct_new"]) {
      const { entries } = await gateway.audit.list({ account, key: "key_pro", by: author.by });
      expect(entries).toMatchObject([{ account: "acct_pro", movedTo: "acct_new", given: { account: "acct_new" } }]);
    }
    const [named] = (await gateway.audit.list({ account: "acct_new" })).entries;
    expect(named).toMatchObject({ account: "acct_new", given: { name: "laptop" } });
    expect(named).not.toHaveProperty("movedTo");
  });

  it("keeps what has the longest names", async () => {
    const { gateway, warnings } = await start();
    const account = "a".repeat(128);
    const budget = { tag: `t${"g".repeat(63)}`, value: "\u00e9".repeat(256) };
    await gateway.accounts.put({ id: account, plan: "pro" }, { by: "b".repeat(128), note: "n".repeat(1000) });
    await gateway.budgets.put(account, { ...budget, credits: { day: 1 } });
    await gateway.budgets.remove(account, budget);
    const { entries } = await gateway.audit.list({ account });
    expect(entries.map(({ action }) => action)).toEqual(["budgets.remove", "budgets.put", "accounts.put"]);
    expect([warnings.map(({ code }) => code), gateway.audit.lost]).toEqual([[], 0]);
  });

  it("has no entry of what is refused, nor of a conflict", async () => {
    const { gateway } = await start();
    const { accounts, keys, plans } = gateway;
    const refused = [
      () => accounts.put({ id: "acct_pro", plan: "pro" }, { expected: null, ...author }),
      () => accounts.update("acct_pro", { plan: "pro" }, { expected: "another", ...author }),
      () => accounts.update("none", { plan: "pro" }, author),
      () => accounts.grant("acct_pro", { id: "g", window: "session", amountMicro: 1, ...author }),
      () => keys.revoke("none", author),
      () => plans.put({ id: "bad" } as never, author),
    ];
    for (const act of refused) await expect(act()).rejects.toMatchObject({ status: expect.any(Number) });
    expect(await entriesOf(gateway)).toEqual([]);
  });

  it("says that it is not known where a store fails", async () => {
    const accounts = memoryAccountStore([{ id: "acct_pro", plan: "pro" }]);
    const put = () => Promise.reject(new Error("password hunter2"));
    const { gateway } = await start({ accounts: Object.assign(accounts, { put }) });
    await expect(gateway.accounts.put({ id: "acct_pro", plan: "basic" }, author)).rejects.toMatchObject({
      status: 503,
    });
    expect(await entriesOf(gateway)).toMatchObject([{ action: "accounts.put", outcome: "unknown", ...author }]);
    expect(JSON.stringify(await entriesOf(gateway))).not.toContain("hunter2");
  });

  it("has no key, and no hash of one, nor what metadata says", async () => {
    const { gateway } = await start();
    const metadata = { email: "ann@example.com" };
    const { id, secret } = await gateway.keys.create({ account: "acct_pro", metadata, tags: { member: "42" } });
    const rotated = await gateway.keys.rotate(id, author);
    await gateway.keys.update(rotated.id, { metadata: { email: "bob@example.com" }, name: "laptop" });
    await gateway.keys.revoke(rotated.id);
    const text = JSON.stringify(await entriesOf(gateway));
    for (const each of [secret, rotated.secret]) {
      expect(text).not.toContain(each);
      expect(text).not.toContain(hashKey(each));
    }
    expect(text).not.toContain("@example.com");
    const [, update, rotation, creation] = await entriesOf(gateway);
    expect(creation).toMatchObject({
      key: id,
      account: "acct_pro",
      given: { metadata: ["email"], tags: { member: "42" } },
    });
    expect(rotation).toMatchObject({ key: id, after: { key: rotated.id } });
    expect(update).toMatchObject({ before: { name: null }, given: { name: "laptop" } });
  });

  it.each([
    ["an author with a line", { by: "a\nb" }],
    ["an author of nothing", { by: "" }],
    ["a long author", { by: "a".repeat(129) }],
    ["a long note", { note: "a".repeat(1001) }],
    ["a note with NUL", { note: "\0" }],
    ["another prototype", JSON.parse('{"__proto__":{"by":"a"}}')],
    ["a misspelled member", { bye: "a" }],
  ])("refuses %s, before anything changes, also without a trail", async (_, wrong) => {
    const { gateway } = await start({ audit: undefined });
    for (const [area, method] of changesOf(gateway)) {
      const args = withAuthor(area, method, validInput[area]?.[method] ?? []);
      const last = args.at(-1) as object;
      const given = inPlace.includes(method) ? Object.assign(Object.create(null), last, wrong) : wrong;
      if (Object.hasOwn(wrong, "__proto__") && inPlace.includes(method)) continue;
      const act = callMethod(gateway, area, method, [...args.slice(0, -1), given]);
      await expect(act, `${area}.${method}`).rejects.toMatchObject({ name: "TypeError", status: 400 });
    }
    expect((await gateway.keys.list("acct_pro")).every(({ revokedAt }) => revokedAt === null)).toBe(true);
    await expect(gateway.audit.list()).rejects.toMatchObject({
      status: 501,
      message: expect.stringMatching(/`audit`/),
    });
  });

  it("warns with the entry where the trail fails or hangs, and the change is made", async () => {
    for (const append of [() => Promise.reject(new Error("down")), () => new Promise<void>(() => {})]) {
      const audit = { ...memoryAuditTrail(), append };
      const { gateway, warnings } = await start({ audit, storeTimeoutMs: 50 });
      const { secret } = await gateway.keys.create({ account: "acct_pro" }, author);
      expect(gateway.audit.lost).toBe(1);
      expect(warnings).toMatchObject([
        { code: "audit_failed", message: expect.stringMatching(/keys\.create.*user_ann/) },
      ]);
      expect(warnings[0]?.message).not.toContain(secret);
    }
  });

  it("cuts what is too large, and says what", async () => {
    const { gateway } = await start();
    const models = Array.from({ length: 400 }, (_, index) => `acme/${index}-${"a".repeat(100)}`);
    await gateway.plans.put({ id: "large", models });
    const [entry] = await entriesOf(gateway);
    expect(entry).toMatchObject({ plan: "large", cut: ["given.models"] });
    expect(entry?.given).not.toHaveProperty("models");
  });

  it("writes who and why into the journal, too", async () => {
    const { gateway } = await start();
    await gateway.accounts.topUp("acct_pro", { id: "t", credits: 5, ...author });
    await gateway.accounts.deduct("acct_pro", { id: "d", credits: 1, ...author });
    await gateway.accounts.grant("acct_pro", { id: "g", window: "week", amountMicro: 1, ...author });
    const { entries } = await gateway.accounts.history("acct_pro");
    expect(entries.map(({ tags }) => tags)).toEqual([author, author, author]);
  });

  it("finds entries by their time as dates and texts", async () => {
    const { gateway } = await start();
    await gateway.plans.delete("none");
    expect((await gateway.audit.list({ from: new Date(Date.now() - 60_000) })).entries).toHaveLength(1);
    expect((await gateway.audit.list({ to: "2020-01-01T00:00:00Z" })).entries).toEqual([]);
  });
});

describe("gateway.keys.rotate", () => {
  it("takes over what another process changes of the key meanwhile", async () => {
    const store = memoryKeyStore([{ key: "sk-old", id: "key_old", account: "acct_pro", plan: "pro" }]);
    const late = { account: "acct_other", plan: "basic", tags: { member: "7" }, enabled: false, expiresAt: 9e12 };
    const { insert } = store;
    store.insert = async (key) => {
      await store.update("key_old", late);
      await insert.call(store, key);
    };
    const { gateway } = await start({ keys: store });
    const rotated = await gateway.keys.rotate("key_old");
    expect(rotated).toMatchObject(late);
    expect(await gateway.keys.get(rotated.id)).toMatchObject(late);
  });
});
