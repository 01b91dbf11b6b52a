import { afterEach, describe, expect, it } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import type { WritableBudgetStore } from "../../../../src/records/budgets/budget-store.js";
import type { WritableKeyStore } from "../../../../src/records/keys/key-store.js";
import { unique } from "../../../../src/testing/credit-ledger-fixture.js";
import { type Managed, type Stores, startManaged } from "../managed-suite.js";

export type StoresWithBudgets = Stores & { budgets: WritableBudgetStore };

const name = { tag: "member", value: "42" };
const tags = { member: "42" };
const waiting = { timeout: 10_000, interval: 20 };

/**
 * Budgets of two gateways, as two processes have them, whatever the stores.
 * @param make - makes stores that share their data with those made before.
 * @param tellsOthers - whether a change is known in another process at once.
 */
export function describeBudgets(store: string, make: () => StoresWithBudgets, tellsOthers: boolean): void {
  describe(`budgets of two gateways: ${store}`, () => {
    let open: Managed[] = [];
    afterEach(async () => {
      for (const test of open) await test.close();
      open = [];
    });

    /** They keep what they found for an hour, unless a notice comes. */
    async function startTwo(options: Partial<GatewayOptions> = {}) {
      const start = async () => {
        const { budgets, ...stores } = make();
        const test = await startManaged(stores, { budgets, ...options });
        open.push(test);
        return test;
      };
      const [one, other] = [await start(), await start()];
      const [plan, account] = [unique("plan"), unique("account")];
      await one.gateway.plans.put({ id: plan, models: ["acme/*"], credits: null });
      const keyOf = async (given: Record<string, string>, of = account) =>
        (await one.gateway.keys.create({ account: of, plan, tags: given })).secret;
      return { one, other, plan, account, keyOf };
    }

    const usedOf = async ({ gateway }: Managed, account: string): Promise<readonly (readonly number[])[]> =>
      (await gateway.budgets.balance(account, name)).caps.map(({ usedMicro, heldMicro }) => [usedMicro, heldMicro]);

    it("are spent to the border and no further by 200 calls at once, with several keys and a move", async () => {
      const { one, other, plan, account, keyOf } = await startTwo();
      await one.gateway.budgets.put(account, { tag: "member", credits: { month: 1000, total: 50 } });
      const moved = await one.gateway.keys.create({ account: unique("other"), plan, tags });
      const keys = [await keyOf(tags), await keyOf({ member: "42", team: "red" }), moved.secret];
      await one.gateway.keys.update(moved.id, { account });
      let calls = 0;
      const use = () => {
        const at = calls++;
        return (at % 2 === 0 ? one : other).call(keys[at % keys.length] as string);
      };
      for (let n = 0; n < 20; n++) expect(await use()).toBe(200);
      const statuses = await Promise.all(Array.from({ length: 200 }, use));
      expect(statuses.filter((status) => status === 200)).toHaveLength(30);
      expect(statuses.filter((status) => status === 429)).toHaveLength(170);
      const caps = [
        [50e6, 0],
        [50e6, 0],
      ];
      for (const gateway of [one, other]) expect(await usedOf(gateway, account)).toEqual(caps);
      const { id } = await one.gateway.keys.create({ account, plan, tags });
      const { secret } = await other.gateway.keys.rotate(id);
      expect([await one.call(secret), await other.call(secret)]).toEqual([429, 429]);
      expect(await other.call(await keyOf({ member: "43" }))).toBe(200);
      expect(await one.call(await keyOf(tags, unique("account")))).toBe(200);
      const usage = await one.gateway.accounts.usage(account, { by: ["member"] });
      expect(usage.find(({ by }) => by["member"] === "42")).toMatchObject({ requests: 50, chargedMicro: 50e6 });
    });

    it("are apart for values that look alike, and for names that objects have", async () => {
      const { one, other, account, keyOf } = await startTwo();
      const values = [
        "\u00e9",
        "e\u0301",
        "\u0435",
        "e",
        "E",
        "e ",
        "__proto__",
        "constructor",
        "toString",
        "a/b",
        "%",
      ];
      const listed: string[] = [];
      for (const tag of ["constructor", "toString", "hasOwnProperty"]) {
        for (const value of values) {
          await one.gateway.budgets.put(account, { tag, value, credits: { total: listed.length + 1 } });
          listed.push(`${tag}=${value}`);
        }
      }
      const kept = (await other.gateway.budgets.list(account, { limit: 1000 })).budgets;
      expect(kept.map(({ tag, value }) => `${tag}=${value}`).sort()).toEqual(listed.toSorted());
      const key = await keyOf({ constructor: "__proto__", toString: "e\u0301" });
      const shown = (await (await other.get("/v1/usage", key)).json()) as {
        budgets: { tag: string; limits: { total: { limit: number } } }[];
      };
      const limits = ["constructor=__proto__", "toString=e\u0301"].map((field) => listed.indexOf(field) + 1);
      const found = shown.budgets.map(({ tag, limits: { total } }) => [tag, total.limit]);
      expect(Object.fromEntries(found)).toEqual({ constructor: limits[0], toString: limits[1] });
    });

    it.runIf(tellsOthers)("hold in the other one as soon as they are put, removed and forgotten", async () => {
      const { one, other, account, plan, keyOf } = await startTwo();
      const [key, free] = [await keyOf(tags), await keyOf({ member: "43" })];
      const calls = async () => [await other.call(key), await other.call(free)];
      const settled = (expected: readonly number[]) => expect.poll(calls, waiting).toEqual(expected);
      await settled([200, 200]);
      await one.gateway.budgets.put(account, { ...name, status: "suspended" });
      await settled([403, 200]);
      expect((await other.gateway.budgets.balance(account, name)).status).toBe("suspended");
      await one.gateway.budgets.put(account, { tag: "member", rates: { concurrent: 0 } });
      await settled([403, 429]);
      await one.gateway.budgets.remove(account, name);
      await settled([429, 429]);
      await one.gateway.budgets.remove(account, { tag: "member" });
      await settled([200, 200]);
      await one.gateway.plans.put({ id: plan, models: ["acme/*"], budgets: [{ ...name, models: [] }] });
      await settled([403, 200]);
      await one.gateway.budgets.put(account, { ...name });
      await settled([200, 200]);
      await one.gateway.accounts.forget(account);
      await expect.poll(() => other.call(key), waiting).toBe(401);
      expect((await other.gateway.budgets.list(account)).budgets).toEqual([]);
    });

    it("of a key that moves while it is rotated are those of the account it has moved to, for both", async () => {
      const { one, other, plan, account } = await startTwo();
      const target = unique("target");
      await one.gateway.budgets.put(target, { ...name, status: "suspended" });
      await one.gateway.keys.create({ account: target, plan });
      for (let round = 0; round < 10; round++) {
        const { id } = await one.gateway.keys.create({ account, plan, tags });
        const [rotated] = await Promise.all([
          one.gateway.keys.rotate(id, { graceMs: 60_000 }),
          other.gateway.keys.update(id, { account: target }),
        ]);
        const [old, made] = [await one.gateway.keys.get(id), await one.gateway.keys.get(rotated.id)];
        expect(old?.account).toBe(target);
        // Of a move that came behind the rotation, the new key knows nothing.
        expect([account, target]).toContain(made?.account);
        expect(await one.call(rotated.secret)).toBe(made?.account === target ? 403 : 200);
      }
    });

    it("of a key that has moved between the two steps of its rotation hold for the new one", async () => {
      const target = unique("target");
      let meanwhile: (() => Promise<unknown>) | undefined;
      const { keys: _, budgets, ...stores } = make();
      const keys = make().keys as WritableKeyStore;
      const slow: WritableKeyStore = {
        ...keys,
        async insert(key) {
          await keys.insert(key);
          const once = meanwhile;
          meanwhile = undefined;
          await once?.();
        },
      };
      const slowOne = await startManaged({ ...stores, keys: slow }, { budgets });
      open.push(slowOne);
      const { one: other, plan, account } = await startTwo();
      await other.gateway.budgets.put(target, { ...name, status: "suspended" });
      await other.gateway.keys.create({ account: target, plan });
      const { id } = await other.gateway.keys.create({ account, plan, tags });
      meanwhile = () => other.gateway.keys.update(id, { account: target, credits: { day: 5 } });
      const { secret, ...made } = await slowOne.gateway.keys.rotate(id);
      expect(made).toMatchObject({ account: target, credits: { day: 5 }, tags });
      expect(await slowOne.gateway.keys.get(made.id)).toMatchObject({ account: target, credits: { day: 5 }, tags });
      expect([await slowOne.call(secret), await other.call(secret)]).toEqual([403, 403]);
    });
  });
}
