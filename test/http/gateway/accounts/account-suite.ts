import { afterEach, describe, expect, it, vi } from "vitest";
import { UnknownAccountError, UnknownTermsError } from "../../../../src/gateway/admin/errors.js";
import type { ListedAccount, ListedAccountPage } from "../../../../src/gateway/admin/listed-account.js";
import type { Identity } from "../../../../src/gateway/identity/identity.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { AccountConflictError, type WritableAccountStore } from "../../../../src/records/accounts/account-store.js";
import type { UsageReport } from "../../../../src/server/usage-report.js";
import { unique } from "../../../../src/testing/credit-ledger-fixture.js";
import { expectAccountRoundTrips } from "../../../contract/contracts/any-limits.js";
import { type Managed, type Stores, startManaged } from "../managed-suite.js";

export type StoresWithAccounts = Stores & { accounts: WritableAccountStore };

const waiting = { timeout: 10_000, interval: 20 };

async function errorOf(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: { code: string; message: string } };
  return { status: response.status, code: error.code, message: error.message };
}

/**
 * What the host's own code can do with accounts, whatever the stores.
 * @param make - makes stores that share their data with those made before, as another process would.
 * @param tellsOthers - whether a change is known in another process at once.
 */
export function describeAccounts(name: string, make: () => StoresWithAccounts, tellsOthers: boolean): void {
  describe(`a gateway with accounts: ${name}`, () => {
    let open: Managed[] = [];
    afterEach(async () => {
      for (const test of open) await test.close();
      open = [];
    });

    /** It keeps what it found for an hour, unless a notice comes. */
    async function start(options: Partial<GatewayOptions> = {}): Promise<Managed & { finds: () => number }> {
      const { accounts, ...stores } = make();
      let finds = 0;
      const find = (id: string) => {
        finds++;
        return accounts.find(id);
      };
      const test = await startManaged(stores, { accounts: { ...accounts, find }, ...options });
      open.push(test);
      return { ...test, finds: () => finds };
    }

    async function startWithPlan(
      options?: Partial<GatewayOptions>,
    ): Promise<{ test: Managed; plan: string; account: string }> {
      const test = await start(options);
      const [plan, account] = [unique("plan"), unique("account")];
      await test.gateway.plans.put({ id: plan, models: ["acme/*"], credits: { month: 100 } });
      return { test, plan, account };
    }

    it("puts, gets, suspends and resumes, at once in this process", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts, keys } = test.gateway;
      await accounts.put({ id: account, plan, metadata: { customer: "cus_1" } });
      expect(await accounts.get(account)).toMatchObject({ id: account, plan, metadata: { customer: "cus_1" } });
      expect(await accounts.get(unique("none"))).toBeUndefined();
      const { secret } = await keys.create({ account });
      expect(await test.call(secret)).toBe(200);

      expect(await accounts.suspend(account, { message: "Pay first." })).toMatchObject({ status: "suspended" });
      for (const path of ["/v1/models", "/v1/models/acme%2Fsmall", "/v1/usage", "/v1/responses/resp_1"]) {
        const refused = { status: 403, code: "account_suspended", message: "Pay first." };
        expect(await errorOf(await test.get(path, secret))).toEqual(refused);
      }
      expect(await test.call(secret)).toBe(403);
      await accounts.put({ id: account, plan });
      expect(await test.call(secret)).toBe(403);
      expect(await accounts.resume(account)).toMatchObject({ status: "active" });
      expect(await test.call(secret)).toBe(200);
      expect((await accounts.get(account))?.message ?? null).toBeNull();
    });

    it("updates what is given and leaves the rest, at once in this process", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts, keys, plans } = test.gateway;
      const anchor = new Date(Date.UTC(2026, 0, 31));
      await accounts.put({ id: account, plan, anchor, metadata: { seats: 3 }, rates: { concurrent: 5 } });
      const { secret } = await keys.create({ account });
      expect(await test.call(secret)).toBe(200);
      const none = unique("plan");
      await plans.put({ id: none, models: [] });
      const rest = { id: account, anchor: anchor.getTime(), rates: { concurrent: 5 }, version: expect.any(String) };
      const seats = { metadata: { seats: 3 } };
      expect(await accounts.update(account, { plan: none, metadata: undefined })).toEqual({
        ...rest,
        ...seats,
        plan: none,
      });
      expect(await test.call(secret)).toBe(403);
      const status = { status: "suspended", message: "Pay first." } as const;
      await accounts.update(account, status);
      const later = new Date(Date.UTC(2026, 1, 1)).toISOString();
      const changed = await accounts.update(account, { plan, anchor: later, metadata: null });
      expect(changed).toEqual({ ...rest, ...status, plan, anchor: Date.parse(later) });
      expect(await accounts.get(account)).toEqual(changed);
      expect(await test.call(secret)).toBe(403);
      await accounts.update(account, { status: "active", message: null });
      expect(await test.call(secret)).toBe(200);

      const unknown = unique("none");
      await expect(accounts.update(unknown, { plan })).rejects.toThrow(UnknownAccountError);
      await expect(accounts.update(account, { plan: null } as never)).rejects.toThrow(
        /gateway\.accounts\.update.*plan/,
      );
      await expect(accounts.update(account, { plam: plan } as never)).rejects.toThrow(/did you mean `plan`/);
      await expect(accounts.update("", { plan })).rejects.toThrow(TypeError);
      const unmade = unique("plan");
      await accounts.update(account, { plan: unmade });
      expect(test.warnings).toContainEqual(
        expect.objectContaining({ code: "unknown_plan", message: expect.stringContaining(unmade) }),
      );
    });

    it("keeps both changes of two processes at the same time, each of 50 times", async () => {
      const { test: one, plan, account } = await startWithPlan();
      const other = await start();
      const accounts = [one.gateway.accounts, other.gateway.accounts] as const;
      await accounts[0].put({ id: account, plan });
      for (let round = 0; round < 50; round++) {
        const rates = { concurrent: round };
        const changed = { plan: `${plan}-${round}`, rates };
        await Promise.all([
          accounts[round % 2 === 0 ? 0 : 1].update(account, { plan: changed.plan }),
          accounts[round % 2 === 0 ? 1 : 0].update(account, { rates }),
        ]);
        expect(await accounts[0].get(account)).toMatchObject(changed);
      }
    });

    it("writes only over the version that was read", async () => {
      const { test: one, plan, account } = await startWithPlan();
      const other = await start();
      const { accounts } = one.gateway;
      await accounts.put({ id: account, plan, metadata: { paidAt: 1 } }, { expected: null });
      await expect(accounts.put({ id: account, plan }, { expected: null })).rejects.toThrow(AccountConflictError);
      const { version = "", ...read } = (await accounts.get(account)) ?? { id: "", plan: "" };
      await other.gateway.accounts.update(account, { metadata: { paidAt: 2 } });
      const stale = { expected: version };
      await expect(accounts.put({ ...read, plan: "x" }, stale)).rejects.toThrow(AccountConflictError);
      await expect(accounts.update(account, { plan: "x" }, stale)).rejects.toMatchObject({ status: 409 });
      const now = await accounts.get(account);
      expect(now).toMatchObject({ plan, metadata: { paidAt: 2 } });
      const updated = await accounts.update(account, { metadata: { paidAt: 3 } }, { expected: now?.version });
      await accounts.put({ ...updated, metadata: { paidAt: 4 } }, { expected: updated.version });
      expect(await other.gateway.accounts.get(account)).toMatchObject({ plan, metadata: { paidAt: 4 } });
      const [listed] = (await accounts.list({ credits: false, limit: 1 })).accounts;
      expect(listed?.version).toEqual(expect.any(String));
      await expect(accounts.put({ id: account, plan }, { expect: version } as never)).rejects.toThrow(/did you mean/);
      await expect(accounts.update(account, {}, { expected: null } as never)).rejects.toThrow(/expected/);
    });

    it("limits an account's calls over all its keys by its rates, until they are taken away", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts, keys } = test.gateway;
      await accounts.put({ id: account, plan, rates: { requestsPerMinute: 2 } });
      const secrets = await Promise.all([keys.create({ account }), keys.create({ account })]);
      const [first = "", second = ""] = secrets.map(({ secret }) => secret);
      expect(await test.call(first)).toBe(200);
      expect(await test.call(second)).toBe(200);
      expect([await test.call(first), await test.call(second)]).toEqual([429, 429]);
      await accounts.put({ id: account, plan });
      expect([await test.call(first), await test.call(second)]).toEqual([200, 200]);
      await accounts.put({ id: account, plan, rates: { requestsPerMinute: 0 } });
      expect(await test.call(first)).toBe(429);
    });

    it("narrows its plan's models to the account's, for keys, sessions and the host's own calls, until they are taken away", async () => {
      let identity: Identity | undefined;
      const { test, plan, account } = await startWithPlan({ identify: () => identity });
      const { accounts, keys } = test.gateway;
      await accounts.put({ id: account, plan, models: ["acme/s*", "other/*"] });
      identity = { account, plan };
      const { secret } = await keys.create({ account });
      const narrow = await keys.create({ account, models: ["acme/large"] });
      const listed = async (key: string) => {
        const { data } = (await (await test.get("/v1/models", key)).json()) as { data: { id: string }[] };
        return data.map(({ id }) => id);
      };
      expect([await listed(secret), await listed(narrow.secret)]).toEqual([["acme/small"], []]);
      expect((await test.get("/v1/models/acme%2Fsmall", secret)).status).toBe(200);
      expect(await errorOf(await test.get("/v1/models/acme%2Flarge", secret))).toMatchObject({
        status: 403,
        code: "model_not_allowed",
      });
      expect((await test.get("/v1/models/other%2Fnone", secret)).status).toBe(404);
      const statuses = () => Promise.all(["acme/small", "acme/large", "other/none"].map((id) => test.call(secret, id)));
      expect(await statuses()).toEqual([200, 403, 404]);
      const ofHost = (id: string, terms = {}) =>
        test.gateway.as({ account, ...terms }).fetch("http://infergate.invalid/v1/chat/completions", {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: JSON.stringify({ model: id, messages: [{ role: "user", content: "Hi" }] }),
        });
      const ofSession = (id: string) =>
        test.gateway.handler(
          new Request("http://gateway.test/v1/chat/completions", {
            method: "POST",
            headers: { "sec-fetch-site": "same-origin", "content-type": "application/json" },
            body: JSON.stringify({ model: id, messages: [{ role: "user", content: "Hi" }] }),
          }),
        );
      for (const call of [ofHost, (id: string) => ofHost(id, { plan, anchor: null }), ofSession]) {
        expect([(await call("acme/small")).status, (await call("acme/large")).status]).toEqual([200, 403]);
      }
      const unmatched = test.warnings.filter(({ code }) => code === "unmatched_account_pattern");
      expect(unmatched[0]?.message).toMatch(/^The account ".*" names the model "other\/\*", which matches nothing/);

      const { version } = await accounts.update(account, { plan });
      await accounts.update(account, { models: [] }, { expected: version });
      expect(await statuses()).toEqual([403, 403, 404]);
      await expect(accounts.update(account, { models: ["acme/*"] }, { expected: version })).rejects.toThrow(
        AccountConflictError,
      );
      expect(await accounts.update(account, { models: null })).not.toHaveProperty("models");
      expect([await statuses(), await listed(narrow.secret)]).toEqual([[200, 200, 404], ["acme/large"]]);
    });

    it("charges by the factor of the plan, and by the account's in its place", async () => {
      const { test, plan, account } = await startWithPlan({ exposeCost: true });
      const { accounts, keys, plans } = test.gateway;
      await plans.put({ id: plan, models: ["acme/*"], credits: { month: 100 }, priceFactor: 0.8 });
      await accounts.put({ id: account, plan });
      const { secret } = await keys.create({ account });
      // One credit by the model's price.
      const charged = async () => {
        const response = await test.post("/v1/chat/completions", secret);
        const { usage } = (await response.json()) as { usage: { cost: number } };
        const { entries } = await accounts.history(account, { kinds: ["charge"], limit: 1 });
        const { amountMicro = 0, tags } = entries[0] ?? {};
        expect(response.headers.get("x-credits-charged")).toBe(String(usage.cost));
        return [usage.cost, amountMicro, String(tags?.["price"]).replace(/^[^*]*/, "")];
      };
      expect(await charged()).toEqual([0.8, 800_000, "*0.8"]);
      await accounts.update(account, { priceFactor: 1.25 });
      expect(await charged()).toEqual([1.25, 1_250_000, "*1.25"]);
      await accounts.update(account, { priceFactor: 1 });
      expect(await charged()).toEqual([1, 1_000_000, ""]);
      await accounts.update(account, { priceFactor: null });
      expect(await charged()).toEqual([0.8, 800_000, "*0.8"]);
      const { windows } = await accounts.balance(account);
      expect(windows.month).toMatchObject({ usedMicro: 3_850_000, heldMicro: 0 });
      // What is granted and bought is not scaled.
      const grant = { id: unique("g"), window: "month", amountMicro: 5 } as const;
      expect((await accounts.grant(account, grant)).windows.month.bonusMicro).toBe(5);
      await expect(plans.put({ id: plan, models: [], priceFactor: 0 })).rejects.toThrow(
        /priceFactor: must be a number/,
      );
    });

    it("holds what a call can cost by the factor", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts, keys } = test.gateway;
      await accounts.put({ id: account, plan, anchor: 0 });
      const { secret } = await keys.create({ account });
      const held: number[] = [];
      for (const priceFactor of [null, 1, 2, 0.5]) {
        await accounts.update(account, { priceFactor });
        expect((await test.post("/v1/chat/completions", secret, { max_tokens: 100_000 })).status).toBe(200);
        await expect.poll(() => test.events.length, { interval: 5 }).toBe(held.length + 1);
        held.push(test.events.at(-1)?.heldMicro ?? 0);
      }
      const [usual = 0] = held;
      expect(usual).toBeGreaterThan(1_000_000);
      expect(held).toEqual([usual, usual, usual * 2, Math.ceil(usual / 2)]);
    });

    it("keeps metadata of any names", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts } = test.gateway;
      await accounts.put({ id: account, plan, metadata: JSON.parse('{"__proto__":"a","constructor":1}') });
      const { metadata } = (await accounts.get(account)) ?? {};
      expect(Object.entries(metadata ?? {}).toSorted()).toEqual([
        ["__proto__", "a"],
        ["constructor", 1],
      ]);
    });

    it("keeps rates, which a put replaces, and shows them", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts } = test.gateway;
      const rates = { concurrent: 2, models: JSON.parse('{"__proto__":{"requestsPerMinute":0}}') };
      await accounts.put({ id: account, plan, rates });
      const found = await accounts.get(account);
      expect(found?.rates).toMatchObject({ concurrent: 2 });
      expect(Object.entries(found?.rates?.models ?? {})).toEqual([["__proto__", { requestsPerMinute: 0 }]]);
      expect((await accounts.suspend(account)).rates).toMatchObject({ concurrent: 2 });
      await expect(accounts.put({ id: account, plan, rates: { concurent: 2 } } as never)).rejects.toThrow(
        /rates: There is no member `concurent` \(did you mean `concurrent`\?\)/,
      );
      expect((await accounts.resume(account)).rates).toMatchObject({ concurrent: 2 });
      await accounts.put({ id: account, plan });
      expect((await accounts.get(account))?.rates ?? null).toBeNull();
    });

    it("keeps any rates as they are", () => expectAccountRoundTrips(make().accounts, 60), 60_000);

    it("gives a caller the plan and the calendar of its account, and not those of its key", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts, keys, plans } = test.gateway;
      const keyPlan = unique("plan");
      await plans.put({ id: keyPlan, models: [] });
      const { secret } = await keys.create({ account, plan: keyPlan, anchor: 0 });
      expect(await test.call(secret)).toBe(403);
      const anchor = Date.now() - 3_600_000;
      await accounts.put({ id: account, plan, anchor });
      expect(await test.call(secret)).toBe(200);
      const { windows } = await accounts.balance(account);
      expect(windows.week.startsAt).toBe(anchor);
      expect(windows.month.usedMicro).toBe(1_000_000);
      const usage = (await (await test.get("/v1/usage", secret)).json()) as { plan: string };
      expect(usage.plan).toBe(plan);
      const event = test.events.findLast(({ endpoint }) => endpoint === "chat/completions");
      expect(event).toMatchObject({ account, plan, source: "key" });
    });

    it("gives a session the plan and the calendar of its account's record, and not those that identify names", async () => {
      let identity: Identity | undefined;
      const { test, plan, account } = await startWithPlan({ identify: () => identity });
      const { accounts, plans } = test.gateway;
      const ofSession = unique("plan");
      await plans.put({ id: ofSession, models: [] });
      identity = { account, plan: ofSession, anchor: 0 };
      const shown = async () => {
        const request = new Request("http://gateway.test/v1/usage", { headers: { "sec-fetch-site": "same-origin" } });
        return (await (await test.gateway.handler(request)).json()) as UsageReport;
      };
      const warned = () => test.warnings.filter(({ code }) => code === "terms_differ");
      // As long as there is no record, the session's own count.
      expect((await shown()).plan).toBe(ofSession);
      expect(warned()).toEqual([]);

      const anchor = Math.floor(Date.now() / 1000) * 1000 - 3_600_000;
      await accounts.put({ id: account, plan, anchor });
      identity = { account, plan: ofSession, anchor: 1 };
      expect(await shown()).toMatchObject({ plan });
      await expect
        .poll(warned, { interval: 5 })
        .toMatchObject([
          { message: expect.stringMatching(/another plan and another anchor than its record has\. The record counts/) },
        ]);
      identity = { account };
      expect(await shown()).toMatchObject({ plan });
      // The host's own code may decide otherwise for its calls.
      expect((await test.gateway.as({ account, plan: ofSession }).usage()).plan).toBe(ofSession);

      identity = { account, plan: ofSession, anchor: null };
      const call = new Request("http://gateway.test/v1/chat/completions", {
        method: "POST",
        headers: { "sec-fetch-site": "same-origin", "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }] }),
      });
      expect((await test.gateway.handler(call)).status).toBe(200);
      const { windows } = await accounts.balance(account);
      expect([windows.week.startsAt, windows.month.usedMicro]).toEqual([anchor, 1_000_000]);
    });

    it("takes a status of null for none: put leaves a suspension, update ends it, with its message", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts } = test.gateway;
      await accounts.put({ id: account, plan, status: null, message: null, anchor: null, metadata: null, rates: null });
      const bare = { id: account, plan, version: expect.any(String) };
      expect(await accounts.get(account)).toStrictEqual(bare);
      const { secret } = await test.gateway.keys.create({ account });
      expect(await test.call(secret)).toBe(200);

      for (const ending of [null, "active"] as const) {
        const message = "Pay first.";
        await accounts.suspend(account, { message });
        await accounts.put({ id: account, plan, status: null });
        expect(await accounts.get(account)).toStrictEqual({ ...bare, status: "suspended", message });
        expect(await test.call(secret)).toBe(403);
        await expect(accounts.update(account, { status: ending, message })).rejects.toThrow(
          /is for suspended accounts/,
        );
        const ended = ending === null ? bare : { ...bare, status: ending };
        expect(await accounts.update(account, { status: ending })).toStrictEqual(ended);
        expect(await accounts.get(account)).toStrictEqual(ended);
        expect(await test.call(secret)).toBe(200);
        // What was read can be written.
        await accounts.put((await accounts.get(account)) ?? { id: "", plan: "" });
      }
    });

    it("grants and reads credits, and serves calls in process, by the account's record alone", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts } = test.gateway;
      await expect(accounts.balance(account)).rejects.toThrow(UnknownTermsError);
      await accounts.put({ id: account, plan });
      const { windows } = await accounts.grant(account, { id: unique("g"), window: "month", amountMicro: 5 });
      expect(windows.month).toMatchObject({ limitMicro: 100_000_000, bonusMicro: 5 });
      const mine = test.gateway.as({ account });
      expect((await mine.usage()).plan).toBe(plan);
      await accounts.suspend(account);
      await expect(mine.usage()).rejects.toThrow(/suspended/);
      const given = test.gateway.as({ account, plan, anchor: null });
      await expect(given.usage()).rejects.toThrow(/suspended/);
    });

    it("takes the plan of the key for an account that it does not know", async () => {
      const { test, plan, account } = await startWithPlan();
      const { keys } = test.gateway;
      const { secret } = await keys.create({ account, plan });
      expect(await test.call(secret)).toBe(200);
      const other = unique("account");
      const { id, secret: planless } = await keys.create({ account: other, plan });
      await keys.update(id, { plan: null });
      for (let call = 0; call < 2; call++) {
        expect(await errorOf(await test.get("/v1/models", planless))).toMatchObject({
          status: 403,
          code: "account_without_plan",
        });
      }
      const warnings = test.warnings.filter(({ code }) => code === "unknown_account");
      expect(warnings.filter(({ message }) => message.includes("its callers get a 403"))).toMatchObject([
        { message: expect.stringContaining(other) },
      ]);
      await test.gateway.accounts.put({ id: other, plan });
      expect(await test.call(planless)).toBe(200);
    });

    it("makes no key for an account that is not there, unless it is given a plan", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts, keys } = test.gateway;
      for (const planless of [undefined, null]) {
        const made = keys.create({ account, plan: planless });
        await expect(made).rejects.toThrow(UnknownAccountError);
        await expect(made).rejects.toThrow(
          /^gateway\.keys\.create: there is no account.*gateway\.accounts\.put.*`plan`/,
        );
      }
      expect(await keys.list(account)).toEqual([]);
      expect(test.warnings).toEqual([]);
      await keys.create({ account, plan });
      await keys.create({ account, plan, anchor: 0 });
      // Only the first one may be a misspelled account.
      expect(test.warnings).toMatchObject([
        { code: "unknown_account", message: expect.stringContaining(JSON.stringify(account)) },
      ]);
      await accounts.put({ id: account, plan });
      expect((await keys.create({ account })).plan).toBeNull();
      const put = `${account}-put`;
      await accounts.put({ id: put, plan });
      await keys.create({ account: put, plan });
      expect(test.warnings).toHaveLength(1);
    });

    it("forgets the record with the rest", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts, keys } = test.gateway;
      await accounts.put({ id: account, plan });
      const { secret } = await keys.create({ account });
      expect(await test.call(secret)).toBe(200);
      await accounts.forget(account);
      expect(await accounts.get(account)).toBeUndefined();
      await expect(accounts.balance(account)).rejects.toThrow(UnknownTermsError);
      await expect(accounts.balance(account)).rejects.toThrow(/neither a record nor keys\. Give `plan`/);
      expect(await test.call(secret)).toBe(401);
    });

    it("says what is wrong with what is asked for", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts } = test.gateway;
      await expect(accounts.suspend(account)).rejects.toThrow(UnknownAccountError);
      await expect(accounts.resume(account)).rejects.toThrow(/gateway\.accounts\.put/);
      await expect(accounts.put({ id: account } as never)).rejects.toThrow(
        /gateway\.accounts\.put.*plan: is required/s,
      );
      await expect(accounts.put({ id: account, plan, status: "off" as never })).rejects.toThrow(TypeError);
      await expect(accounts.suspend(account, { message: "\ud83d" })).rejects.toThrow(TypeError);
      await expect(accounts.list({ limit: 0 })).rejects.toThrow(TypeError);
      const unmade = unique("plan");
      await accounts.put({ id: account, plan: unmade });
      expect(test.warnings).toContainEqual(
        expect.objectContaining({ code: "unknown_plan", message: expect.stringContaining(unmade) }),
      );
    });

    it("lists accounts by page", async () => {
      const { test, plan, account } = await startWithPlan();
      const ids = [1, 2, 3].map((number) => `${account}-${number}`);
      for (const id of ids) await test.gateway.accounts.put({ id, plan });
      const listed: string[] = [];
      let cursor: string | undefined;
      do {
        const page = await test.gateway.accounts.list({ limit: 2, cursor });
        listed.push(...page.accounts.map(({ id }) => id));
        cursor = page.cursor;
      } while (cursor !== undefined);
      expect(listed.filter((id) => ids.includes(id)).sort()).toEqual(ids);
    });

    it("lists what accounts have used, and when they called last", async () => {
      const { test, plan, account } = await startWithPlan();
      const { accounts, keys } = test.gateway;
      const [busy, idle, lost] = ["1-busy", "2-idle", "3-lost"].map((name) => `${account}-${name}`) as [
        string,
        string,
        string,
      ];
      for (const id of [busy, idle]) await accounts.put({ id, plan });
      await accounts.put({ id: lost, plan: unique("plan") });
      const before = Date.now() - 60_000;
      expect(await test.call((await keys.create({ account: busy })).secret)).toBe(200);
      for (const id of [busy, lost]) {
        await accounts.topUp(id, { id: unique("payment"), credits: 3 });
        for (let grant = 0; grant < 25 && id === busy; grant++) {
          await accounts.grant(id, { id: unique("grant"), window: "month", amountMicro: 1 });
        }
      }
      const all = async (request: { credits?: boolean } = {}) => {
        const found = new Map<string, ListedAccount>();
        let cursor: string | undefined;
        do {
          const page: ListedAccountPage = await accounts.list({ ...request, cursor, limit: 2 });
          for (const listed of page.accounts) found.set(listed.id, listed);
          cursor = page.cursor;
        } while (cursor !== undefined);
        return [busy, idle, lost].map((id) => found.get(id));
      };
      const [used, unused, without] = await all();
      const { windows, prepaid } = await accounts.balance(busy);
      expect(used).toMatchObject({ id: busy, plan, windows, prepaid, lastCallAt: expect.any(Number) });
      expect(used?.windows?.month).toMatchObject({ usedMicro: 1_000_000, remainingMicro: 99_000_025 });
      expect(used?.lastCallAt).toBeGreaterThan(before);
      expect(unused?.windows).toMatchObject((await accounts.balance(idle)).windows);
      for (const member of ["prepaid", "lastCallAt"]) expect(unused).not.toHaveProperty(member);
      expect(without).toMatchObject({ id: lost });
      for (const member of ["windows", "prepaid", "lastCallAt"]) expect(without).not.toHaveProperty(member);
      const records = await Promise.all([busy, idle, lost].map((id) => accounts.get(id)));
      expect(await all({ credits: false })).toEqual(records);
    });

    it.runIf(tellsOthers)("suspends, resumes and changes plans in another process at once", async () => {
      const { test: one, plan, account } = await startWithPlan();
      const other = await start();
      await one.gateway.accounts.put({ id: account, plan });
      const { secret } = await one.gateway.keys.create({ account });
      expect(await other.call(secret)).toBe(200);
      // From here on, the other one has the account in its cache for an hour.
      await one.gateway.accounts.suspend(account);
      await vi.waitFor(async () => expect(await other.call(secret)).toBe(403), waiting);
      await one.gateway.accounts.resume(account);
      await vi.waitFor(async () => expect(await other.call(secret)).toBe(200), waiting);
      const none = unique("plan");
      await one.gateway.plans.put({ id: none, models: [] });
      await one.gateway.accounts.put({ id: account, plan: none });
      await vi.waitFor(async () => expect(await other.call(secret)).toBe(403), waiting);
    });

    it.runIf(tellsOthers)("makes an account known in another process that had missed it", async () => {
      const { test: one, plan, account } = await startWithPlan();
      const other = await start();
      const { id, secret } = await one.gateway.keys.create({ account, plan });
      await one.gateway.keys.update(id, { plan: null });
      await vi.waitFor(async () => {
        const before = other.finds();
        expect(await other.call(secret)).toBe(403);
        // Its absence is in the cache by now.
        expect(other.finds()).toBe(before);
      }, waiting);
      await one.gateway.accounts.put({ id: account, plan });
      await vi.waitFor(async () => expect(await other.call(secret)).toBe(200), waiting);
    });
  });
}
