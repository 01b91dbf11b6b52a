import { afterEach, describe, expect, it, vi } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { toNodeHandler } from "../../../src/node.js";
import { chatAnswer, chatChunks } from "../../../src/testing/chat-samples.js";
import { unique } from "../../../src/testing/credit-ledger-fixture.js";
import { eventStream, wholeAnswer } from "../../../src/testing/fake-upstream/fake-responses.js";
import { createGate } from "../../../src/testing/gate.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { type Host, listen } from "../../support/adapters/host.js";
import { largeModel, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { chatCall } from "../adapters/client.js";

export type Stores = Pick<GatewayOptions, "keys" | "plans" | "ledger">;

export interface Managed extends TestGateway {
  /** The status of a call that costs one credit. */
  call(key: string, model?: string): Promise<number>;
  get(path: string, key: string, method?: string): Promise<Response>;
  post(path: string, key: string, members?: Record<string, unknown>): Promise<Response>;
}

/** 10 tokens at 1 micro-credit, and 99,999 at 10. */
const oneCredit = chatAnswer({
  usage: { prompt_tokens: 10, completion_tokens: 99_999, total_tokens: 100_009 },
});

const hour = 3_600_000;

/** A gateway behind a server, that would remember keys and plans for an hour. */
export async function startManaged(stores: Stores, options: Partial<GatewayOptions> = {}): Promise<Managed> {
  const { keys, plans, ledger } = stores;
  const test = await startTestGateway({
    models: [smallModel, largeModel].map((model) => ({ ...model, maxOutputTokens: 100_000 })),
    cacheTtlMs: hour,
    negativeCacheTtlMs: hour,
    keys,
    plans,
    ledger,
    ...options,
  });
  test.upstream.reply(wholeAnswer(oneCredit));
  const host: Host = await listen(toNodeHandler(test.gateway));
  const post = (path: string, key: string, members: Record<string, unknown> = {}) =>
    host.fetch(
      path,
      chatCall(members, { headers: { "content-type": "application/json", authorization: `Bearer ${key}` } }),
    );
  return {
    ...test,
    post,
    async call(key, model = "acme/small") {
      const response = await post("/v1/chat/completions", key, { model });
      await response.text();
      return response.status;
    },
    get: (path, key, method = "GET") => host.fetch(path, { method, headers: { authorization: `Bearer ${key}` } }),
    async close() {
      await host.close();
      await test.close();
    },
  };
}

/**
 * What the host's own code can do through the gateway, whatever the stores.
 * @param make - makes stores that share their data with those made before.
 * @param tellsOthers - whether a change is known in another process at once.
 */
export function describeManaged(name: string, make: () => Stores, tellsOthers: boolean): void {
  describe(`a gateway managed by its host: ${name}`, () => {
    let open: Managed[] = [];
    afterEach(async () => {
      for (const test of open) await test.close();
      open = [];
    });

    async function start(options: Partial<GatewayOptions> = {}): Promise<Managed> {
      const test = await startManaged(make(), options);
      open.push(test);
      return test;
    }

    /** A gateway with a plan and a key of a new account. */
    async function startWithKey(credits = { session: 5, week: 50, month: 500 }) {
      const test = await start();
      const [account, plan] = [unique("account"), unique("plan")];
      await test.gateway.plans.put({ id: plan, models: ["acme/*"], credits });
      const key = await test.gateway.keys.create({ account, plan });
      return { ...test, account, plan, key };
    }

    it("makes a key that works at once, and tells it once", async () => {
      const { gateway, call, account, plan, key } = await startWithKey();
      const { secret, ...record } = key;
      expect(await call(secret)).toBe(200);
      expect(record).toEqual({
        id: expect.stringMatching(/^key_/),
        account,
        plan,
        name: null,
        hint: `${secret.slice(0, 10)}…${secret.slice(-4)}`,
        createdAt: expect.any(Number),
        expiresAt: null,
        revokedAt: null,
        enabled: true,
        models: null,
        anchor: null,
        metadata: null,
        credits: null,
        rates: null,
        tags: null,
        lineage: null,
        lastUsedAt: null,
      });
      const listed = await gateway.keys.list(account);
      expect(listed).toEqual([record]);
      expect(await gateway.keys.get(key.id)).toEqual(record);
      expect(JSON.stringify(listed)).not.toContain(secret.slice(10, -4));
    });

    it("changes a key at once, also one that is in the cache", async () => {
      const { gateway, call, key } = await startWithKey();
      expect(await call(key.secret)).toBe(200);
      const changed = await gateway.keys.update(key.id, { models: ["acme/large"], name: "laptop" });
      expect(changed).toMatchObject({ models: ["acme/large"], name: "laptop", plan: key.plan });
      expect([await call(key.secret), await call(key.secret, "acme/large")]).toEqual([403, 200]);
      await gateway.keys.update(key.id, { models: null, name: null });
      expect(await call(key.secret)).toBe(200);
      await gateway.keys.update(key.id, { expiresAt: new Date(0) });
      expect(await call(key.secret)).toBe(401);
    });

    it("revokes a key at once, for good, and by its first time", async () => {
      const { gateway, call, key } = await startWithKey();
      expect(await call(key.secret)).toBe(200);
      const { revokedAt } = await gateway.keys.revoke(key.id);
      expect(await call(key.secret)).toBe(401);
      await new Promise((resolve) => setImmediate(resolve));
      expect((await gateway.keys.revoke(key.id)).revokedAt).toBe(revokedAt);
      await expect(gateway.keys.rotate(key.id)).rejects.toThrow(/revoked or expired.*gateway\.keys\.create/);
    });

    it("disables a key at once, while a stream of it goes on to its end, and enables it again", async () => {
      const { gateway, call, post, key, upstream, events } = await startWithKey();
      const gate = createGate();
      upstream.replyOnce(eventStream(chatChunks("Hello world"), { gate, done: true }));
      gate.step(2);
      const stream = await post("/v1/chat/completions", key.secret, { stream: true });
      expect(await gateway.keys.update(key.id, { enabled: false })).toMatchObject({ enabled: false, revokedAt: null });
      expect((await gateway.keys.get(key.id))?.enabled).toBe(false);
      const refused = await post("/v1/chat/completions", key.secret);
      expect([refused.status, refused.headers.get("www-authenticate")]).toEqual([
        401,
        'Bearer realm="infergate", error="invalid_token"',
      ]);
      expect(await refused.json()).toMatchObject({
        error: {
          code: "api_key_disabled",
          type: "invalid_request_error",
          message: expect.stringMatching(/is disabled/),
        },
      });
      const hasEvent = (event: object) => expect.poll(() => events.at(-1), { interval: 5 }).toMatchObject(event);
      await hasEvent({ status: 401, errorCode: "api_key_disabled", keyId: key.id });
      gate.open();
      expect(await stream.text()).toMatch(/\[DONE\]\s*$/);
      await hasEvent({ status: 200, keyId: key.id });
      await gateway.keys.update(key.id, { enabled: true });
      expect(await call(key.secret)).toBe(200);
      await gateway.keys.update(key.id, { enabled: false });
      await gateway.keys.update(key.id, { enabled: null });
      expect(await call(key.secret)).toBe(200);
    });

    it.each([true, null])("lets nobody in by a revoked key that is enabled: %j", async (enabled) => {
      const { gateway, get, key } = await startWithKey();
      await gateway.keys.update(key.id, { enabled: false });
      const { revokedAt } = await gateway.keys.revoke(key.id);
      const changed = await gateway.keys.update(key.id, { enabled });
      const { secret: _, ...record } = key;
      expect(changed).toEqual({ ...record, enabled: true, revokedAt });
      expect(await gateway.keys.get(key.id)).toEqual(changed);
      const refused = await get("/v1/models", key.secret);
      expect([refused.status, await refused.json()]).toMatchObject([401, { error: { code: "invalid_api_key" } }]);
    });

    it("lists keys of one millisecond in the order in which they were made, whatever the page", async () => {
      const clock = new ManualClock(Date.UTC(2026, 5, 1));
      const { gateway } = await start({ clock });
      const [account, plan] = [unique("account"), unique("plan")];
      await gateway.plans.put({ id: plan, models: [] });
      const ids: string[] = [];
      for (let index = 0; index < 30; index++) {
        if (index % 10 === 9) clock.advance(1);
        ids.push((await gateway.keys.create({ account, plan })).id);
      }
      expect((await gateway.keys.list(account)).map(({ id }) => id)).toEqual(ids);
      const page = await gateway.keys.list(account, { after: ids[12], limit: 9 });
      expect(page.map(({ id }) => id)).toEqual(ids.slice(13, 22));
      // Hence the newest is the one that was made last.
      await gateway.keys.create({ account, plan, anchor: 5 });
      expect((await gateway.keys.create({ account, plan })).anchor).toBe(5);
    });

    it("keeps metadata, which an update replaces and a rotation keeps, and whether the key is enabled", async () => {
      const { gateway, call, account, plan } = await startWithKey();
      const metadata = JSON.parse('{"team":"search","__proto__":"a","constructor":"b"}');
      const key = await gateway.keys.create({ account, plan, metadata, enabled: false });
      metadata.team = "changed by its owner";
      const kept = [
        ["__proto__", "a"],
        ["constructor", "b"],
        ["team", "search"],
      ];
      const membersOf = (held: object | null | undefined) => Object.entries(held ?? {}).sort();
      expect(membersOf(key.metadata)).toEqual(kept);
      expect(await call(key.secret)).toBe(401);
      const rotated = await gateway.keys.rotate(key.id);
      expect(membersOf(rotated.metadata)).toEqual(kept);
      expect(rotated).toMatchObject({ enabled: false, lastUsedAt: null });
      const listed = await gateway.keys.list(account);
      for (const { id } of [key, rotated]) {
        expect(membersOf(listed.find((other) => other.id === id)?.metadata)).toEqual(kept);
      }
      expect((await gateway.keys.update(key.id, { metadata: { other: "1" } })).metadata).toEqual({ other: "1" });
      expect((await gateway.keys.update(key.id, { metadata: null })).metadata).toBeNull();
    });

    it("keeps caps and rates, which an update replaces and a rotation keeps, with where they are counted", async () => {
      const { gateway, account, plan } = await startWithKey();
      const credits = { day: 1.5, total: 100 };
      const rates = { concurrent: 2, models: JSON.parse('{"__proto__":{"requestsPerMinute":0}}') };
      const key = await gateway.keys.create({ account, plan, credits, rates });
      credits.day = 9;
      const kept = { credits: { day: 1.5, total: 100 }, rates, lineage: null };
      expect(key).toMatchObject(kept);
      expect(await gateway.keys.get(key.id)).toMatchObject(kept);
      const second = await gateway.keys.rotate(key.id);
      expect(second).toMatchObject({ ...kept, lineage: key.id });
      const third = await gateway.keys.rotate(second.id);
      expect(third).toMatchObject({ ...kept, lineage: key.id });
      const listed = await gateway.keys.list(account);
      for (const { id, lineage } of [key, second, third]) {
        const found = listed.find((other) => other.id === id);
        expect(found).toMatchObject({ ...kept, lineage });
        expect(Object.entries(found?.rates?.models ?? {})).toEqual([["__proto__", { requestsPerMinute: 0 }]]);
      }
      expect(await gateway.keys.update(third.id, { credits: { week: 0 } })).toMatchObject({
        credits: { week: 0 },
        rates,
      });
      expect((await gateway.keys.get(third.id))?.credits).toEqual({ week: 0 });
      expect(await gateway.keys.update(third.id, { credits: null, rates: null })).toMatchObject({
        ...{ credits: null, rates: null, lineage: key.id },
      });
    });

    it("files the calls of a key under its tags, which an update replaces and a rotation keeps", async () => {
      const { gateway, call, account, plan } = await startWithKey();
      const key = await gateway.keys.create({ account, plan, tags: { member: "42", team: "red" } });
      expect(key.tags).toEqual({ member: "42", team: "red" });
      await call(key.secret);
      const rotated = await gateway.keys.rotate(key.id);
      expect(rotated.tags).toEqual(key.tags);
      await call(rotated.secret);
      expect((await gateway.keys.update(rotated.id, { tags: { member: "43" } })).tags).toEqual({ member: "43" });
      await call(rotated.secret);
      const rows = await gateway.accounts.usage(account, { by: ["member", "team"] });
      expect(rows.map(({ by, requests }) => [by["member"], by["team"], requests]).sort()).toEqual([
        ["42", "red", 2],
        ["43", null, 1],
      ]);
      expect((await gateway.keys.update(rotated.id, { tags: null })).tags).toBeNull();
    });

    it("moves a key with its secret to another account, whose credits it uses at once", async () => {
      const { gateway, call, account, plan, key } = await startWithKey();
      const other = unique("account");
      await gateway.keys.create({ account: other, plan, anchor: 7 });
      expect(await call(key.secret)).toBe(200);
      const moved = await gateway.keys.update(key.id, { account: other, tags: { member: "42" } });
      expect(moved).toMatchObject({ id: key.id, account: other, plan, tags: { member: "42" }, anchor: 7 });
      expect(await call(key.secret)).toBe(200);
      expect(await gateway.keys.list(account)).toEqual([]);
      expect((await gateway.keys.list(other)).map(({ id }) => id)).toContain(key.id);
      for (const owner of [account, other]) {
        const { windows } = await gateway.accounts.balance(owner, { plan, anchor: owner === other ? 7 : null });
        expect(windows.month.usedMicro).toBe(1_000_000);
      }
      await gateway.accounts.forget(account);
      expect(await call(key.secret)).toBe(200);
      await gateway.accounts.forget(other);
      expect(await call(key.secret)).toBe(401);
    });

    it("keeps when a key was used, and no rotation takes that on", async () => {
      const { gateway, call, account, key, close } = await startWithKey();
      const before = Date.now();
      expect(await call(key.secret)).toBe(200);
      const rotated = await gateway.keys.rotate(key.id);
      // Before its first minute is over.
      await close();
      open = open.filter(({ gateway: other }) => other !== gateway);
      const { gateway: next } = await start();
      const [used, fresh] = await next.keys.list(account);
      expect(used?.lastUsedAt).toBeGreaterThanOrEqual(before);
      expect(used?.lastUsedAt).toBeLessThanOrEqual(Date.now());
      expect(fresh).toMatchObject({ id: rotated.id, lastUsedAt: null });
    });

    it("rotates a key, with a time of grace or without", async () => {
      const { gateway, call, account, key } = await startWithKey();
      await gateway.keys.update(key.id, { name: "laptop", models: ["acme/small"], anchor: "2026-01-31T00:00:00Z" });
      const before = Date.now();
      const second = await gateway.keys.rotate(key.id, { graceMs: hour });
      expect(second).toMatchObject({ account, plan: key.plan, name: "laptop", models: ["acme/small"] });
      expect(second.anchor).toBe(Date.UTC(2026, 0, 31));
      expect([await call(key.secret), await call(second.secret)]).toEqual([200, 200]);
      expect((await gateway.keys.get(key.id))?.revokedAt).toBeGreaterThanOrEqual(before + hour);
      const third = await gateway.keys.rotate(second.id);
      expect([await call(key.secret), await call(second.secret), await call(third.secret)]).toEqual([200, 401, 200]);
      expect(new Set((await gateway.keys.list(account)).map(({ id }) => id)).size).toBe(3);
    });

    it("puts a plan that is effective at once, for a key that is in use", async () => {
      const { gateway, call, key, plan } = await startWithKey({ session: 1, week: 50, month: 500 });
      expect([await call(key.secret), await call(key.secret)]).toEqual([200, 429]);
      await gateway.plans.put({ id: plan, models: ["acme/small"], credits: { session: 2 } });
      expect([await call(key.secret), await call(key.secret)]).toEqual([200, 429]);
      expect(await call(key.secret, "acme/large")).toBe(403);
    });

    it("shows, lists and deletes plans, effective at once for a key that is in use", async () => {
      const { gateway, call, key, plan } = await startWithKey();
      const other = `${plan}-other`;
      await gateway.plans.put({ id: other, models: ["acme/large"], credits: { month: 3 } });
      expect(await gateway.plans.get(other)).toMatchObject({ id: other, credits: { month: 3 } });
      const ids = (await gateway.plans.list()).map(({ id }) => id);
      expect(ids.filter((id) => id.startsWith(plan))).toEqual([plan, other]);
      expect(await call(key.secret)).toBe(200);
      expect([await gateway.plans.delete(plan), await gateway.plans.delete(plan)]).toEqual([true, false]);
      expect(await call(key.secret)).toBe(403);
      expect([await gateway.plans.get(plan), (await gateway.plans.get(other))?.id]).toEqual([undefined, other]);
      await gateway.plans.put({ id: plan, models: ["acme/*"], credits: { session: 5 } });
      expect(await call(key.secret)).toBe(200);
    });

    it("grants once per id, and sets back", async () => {
      const { gateway, call, account, key } = await startWithKey({ session: 1, week: 1, month: 500 });
      expect([await call(key.secret), await call(key.secret)]).toEqual([200, 429]);
      const grant = { id: unique("payment"), amountMicro: 2_000_000, note: "goodwill" };
      for (let repetition = 0; repetition < 3; repetition++) {
        const { plan, windows } = await gateway.accounts.grant(account, { ...grant, window: "week" });
        expect(plan).toBe(key.plan);
        expect(windows.week).toMatchObject({ limitMicro: 1_000_000, bonusMicro: 2_000_000, remainingMicro: 2_000_000 });
      }
      await gateway.accounts.reset(account, ["session"]);
      expect([await call(key.secret), await call(key.secret)]).toEqual([200, 429]);
      await gateway.accounts.reset(account);
      const { windows } = await gateway.accounts.balance(account);
      expect(windows.week).toMatchObject({ usedMicro: 0, heldMicro: 0, remainingMicro: 3_000_000 });
      expect(windows.month).toMatchObject({ usedMicro: 0, remainingMicro: 500_000_000 });
      expect(windows.session).toMatchObject({ startsAt: null, resetsAt: null });
    });

    it("keeps an entry for every charge, and sums them up", async () => {
      const { gateway, call, account, key, upstream } = await startWithKey();
      const other = await gateway.keys.create({ account, plan: key.plan });
      await call(key.secret);
      await call(key.secret, "acme/large");
      await call(other.secret);
      const details = {
        prompt_tokens_details: { cached_tokens: 4 },
        completion_tokens_details: { reasoning_tokens: 3 },
      };
      const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15, ...details };
      upstream.reply(wholeAnswer(chatAnswer({ usage })));
      await call(other.secret);
      // 6 at 1, 4 at 0.5, 2 at 10 and 3 at 20 micro-credits.
      const last = 88;

      const first = await gateway.accounts.history(account, { limit: 3 });
      expect(first.entries).toHaveLength(3);
      const { windows } = await gateway.accounts.balance(account);
      expect(first.entries[0]).toMatchObject({
        kind: "charge",
        amountMicro: last,
        starts: { session: windows.session.startsAt, week: windows.week.startsAt, month: windows.month.startsAt },
        tags: {
          keyId: other.id,
          model: "acme/small",
          source: "provider",
          price: "1/0.5/10/20/0",
          input: 10,
          cachedInput: 4,
          output: 5,
          reasoning: 3,
        },
      });
      const second = await gateway.accounts.history(account, { limit: 3, cursor: first.cursor });
      expect([second.entries.length, second.cursor]).toEqual([1, undefined]);

      const rows = await gateway.accounts.usage(account);
      const tokens = { input: 10, cachedInput: 0, output: 99_999, reasoning: 0 };
      const day = new Date(first.entries[0]?.at ?? 0).toISOString().slice(0, 10);
      expect(rows).toHaveLength(3);
      expect(rows).toEqual(
        expect.arrayContaining([
          { day, model: "acme/large", keyId: key.id, requests: 1, chargedMicro: 1_000_000, tokens },
          { day, model: "acme/small", keyId: key.id, requests: 1, chargedMicro: 1_000_000, tokens },
          {
            day,
            model: "acme/small",
            keyId: other.id,
            requests: 2,
            chargedMicro: 1_000_000 + last,
            tokens: { input: 20, cachedInput: 4, output: 100_004, reasoning: 3 },
          },
        ]),
      );
      expect(windows.month.usedMicro).toBe(3_000_000 + last);
      expect(await gateway.accounts.usage(account, { to: first.entries.at(-1)?.at ?? 0 })).not.toEqual(rows);
      expect(await gateway.accounts.usage(account, { from: new Date(Date.now() + hour) })).toEqual([]);
    });

    it("counts what is of the millisecond of `from`, and not what is of that of `to`", async () => {
      const { gateway, call, account, key } = await startWithKey();
      await call(key.secret);
      const [entry] = (await gateway.accounts.history(account)).entries;
      const at = entry?.at ?? 0;
      for (const [range, count] of [
        [{ from: at, to: at + 1 }, 1],
        [{ from: new Date(at) }, 1],
        [{ to: new Date(at + 1).toISOString() }, 1],
        [{ from: at - 1, to: at }, 0],
        [{ to: at }, 0],
        [{ from: at + 1 }, 0],
        [{ from: at, to: at }, 0],
        [{ from: at + 1, to: at }, 0],
      ] as const) {
        const { entries } = await gateway.accounts.history(account, range);
        const sums = await gateway.accounts.usage(account, { ...range, by: ["model"] });
        const rows = await gateway.accounts.usage(account, range);
        expect([range, entries.length, sums.length, rows.length]).toEqual([range, count, count, count]);
      }
    });

    it("tells an account its stock over HTTP, and opens nothing by it", async () => {
      const { gateway, call, get, account, key, plan } = await startWithKey({ session: 5, week: 50, month: 500 });
      const read = async () => (await (await get("/v1/usage", key.secret)).json()) as Record<string, never>;
      const untouched = await read();
      expect(untouched).toMatchObject({
        object: "usage",
        plan,
        windows: { session: { limit: 5, used: 0, held: 0, remaining: 5, resets_at: null }, week: { used: 0 } },
      });
      await call(key.secret);
      await gateway.accounts.grant(account, { id: unique("grant"), window: "month", amountMicro: 1 });
      const { windows } = await gateway.accounts.balance(account);
      const seconds = (name: "session" | "week" | "month") => Math.ceil((windows[name].resetsAt ?? 0) / 1000);
      expect(await read()).toEqual({
        object: "usage",
        plan,
        windows: {
          session: { limit: 5, used: 1, held: 0, remaining: 4, resets_at: seconds("session") },
          week: { limit: 50, used: 1, held: 0, remaining: 49, resets_at: seconds("week") },
          month: { limit: 500.000001, used: 1, held: 0, remaining: 499.000001, resets_at: seconds("month") },
        },
      });
    });

    it("forgets an account, in all stores and caches", async () => {
      const { gateway, call, account, key } = await startWithKey();
      expect(await call(key.secret)).toBe(200);
      await gateway.accounts.forget(account);
      expect(await call(key.secret)).toBe(401);
      expect(await gateway.keys.list(account)).toEqual([]);
      expect((await gateway.accounts.history(account)).entries).toEqual([]);
      await expect(gateway.accounts.balance(account)).rejects.toThrow(/the account has no keys\. Give `plan`/);
      const { windows } = await gateway.accounts.balance(account, { plan: key.plan });
      expect([windows.session.usedMicro, windows.week.usedMicro, windows.month.usedMicro]).toEqual([0, 0, 0]);
    });

    it("forgets an account for good, though a call of it ends only then", async () => {
      const { gateway, call, account, key, upstream, warnings } = await startWithKey();
      const gate = createGate();
      upstream.replyOnce(wholeAnswer(oneCredit, { gate }));
      const status = call(key.secret);
      await vi.waitFor(() => expect(gate.waiting).toBe(1), { timeout: 5_000, interval: 5 });
      await gateway.accounts.forget(account);
      gate.open();
      expect(await status).toBe(200);
      expect((await gateway.accounts.history(account)).entries).toEqual([]);
      const { windows } = await gateway.accounts.balance(account, { plan: key.plan });
      expect([windows.session.startsAt, windows.week.usedMicro, windows.week.heldMicro]).toEqual([null, 0, 0]);
      expect(warnings).toEqual([]);
    });

    it("grants to the open session, which keeps it when its only call costs nothing", async () => {
      const { gateway, call, account, key, upstream } = await startWithKey({ session: 1, week: 50, month: 500 });
      const gate = createGate();
      upstream.replyOnce(wholeAnswer({ error: { message: "no" } }, { status: 400, gate }));
      const failed = call(key.secret);
      await vi.waitFor(() => expect(gate.waiting).toBe(1), { timeout: 5_000, interval: 5 });
      const grant = { id: unique("grant"), window: "session", amountMicro: 1_000_000 } as const;
      await gateway.accounts.grant(account, grant);
      gate.open();
      expect(await failed).toBe(400);
      for (let time = 0; time < 2; time++) {
        const { windows } = await gateway.accounts.grant(account, grant);
        expect(windows.session).toMatchObject({
          usedMicro: 0,
          heldMicro: 0,
          bonusMicro: 1_000_000,
          remainingMicro: 2_000_000,
        });
      }
      await gateway.accounts.reset(account);
      expect([await call(key.secret), await call(key.secret), await call(key.secret)]).toEqual([200, 200, 429]);
    });

    it("refuses names that a store could mix up, in the same words", async () => {
      const { gateway, account, plan } = await startWithKey();
      const { keys, accounts, plans } = gateway;
      for (const [text, problem] of [
        ["\ud83d", "must be well-formed Unicode, without halves of surrogate pairs"],
        ["a\0b", "must hold no control characters"],
      ] as const) {
        const wrong = `${account}${text}`;
        const grant = { id: unique("grant"), window: "week", amountMicro: 1, plan } as const;
        for (const [member, refused] of [
          ["account", () => keys.create({ account: wrong, plan })],
          ["plan", () => keys.create({ account, plan: wrong })],
          ["models[0]", () => keys.create({ account, plan, models: [wrong] })],
          ["account", () => keys.list(wrong)],
          ["after", () => keys.list(account, { after: wrong })],
          ["id", () => keys.get(wrong)],
          ["id", () => keys.revoke(wrong)],
          ["id", () => keys.rotate(wrong)],
          ["id", () => keys.update(wrong, {})],
          ["id", () => plans.put({ id: wrong, models: [] })],
          ["models[0]", () => plans.put({ id: plan, models: [wrong] })],
          ["account", () => accounts.balance(wrong, { plan })],
          ["plan", () => accounts.balance(account, { plan: wrong })],
          ["account", () => accounts.grant(wrong, grant)],
          ["id", () => accounts.grant(account, { ...grant, id: wrong })],
          ["account", () => accounts.reset(wrong)],
          ["account", () => accounts.history(wrong)],
          ["account", () => accounts.usage(wrong)],
          ["account", () => accounts.forget(wrong)],
        ] as const) {
          const error = await refused().then(
            () => undefined,
            (reason: unknown) => reason,
          );
          expect(error).toBeInstanceOf(TypeError);
          expect(String(error)).toContain(`${member}: ${problem}`);
        }
      }
      expect(await keys.list(account)).toHaveLength(1);
    });

    it.runIf(tellsOthers)("tells other processes at once", async () => {
      const { gateway, account, key, plan } = await startWithKey();
      const other = await start();
      // From the first call on it has them, and listens.
      expect(await other.call(key.secret)).toBe(200);
      await gateway.keys.update(key.id, { enabled: false });
      const isDisabled = async () => expect(await other.call(key.secret)).toBe(401);
      await vi.waitFor(isDisabled, { timeout: 5_000, interval: 5 });
      await gateway.keys.update(key.id, { enabled: true });
      await vi.waitFor(async () => expect(await other.call(key.secret)).toBe(200), { timeout: 5_000, interval: 5 });
      await gateway.keys.revoke(key.id);
      const isRefused = async () => expect(await other.call(key.secret)).toBe(401);
      await vi.waitFor(isRefused, { timeout: 5_000, interval: 5 });

      const second = await gateway.keys.create({ account, plan });
      expect(await other.call(second.secret)).toBe(200);
      await gateway.plans.put({ id: plan, models: ["acme/large"], credits: null });
      await vi.waitFor(async () => expect(await other.call(second.secret)).toBe(403), { timeout: 5_000, interval: 5 });
      expect(await other.call(second.secret, "acme/large")).toBe(200);
      await gateway.accounts.forget(account);
      const isForgotten = async () => expect(await other.call(second.secret, "acme/large")).toBe(401);
      await vi.waitFor(isForgotten, { timeout: 5_000, interval: 5 });
      expect([...other.warnings, ...open.flatMap(({ warnings }) => warnings)]).toEqual([]);
    });
  });
}
