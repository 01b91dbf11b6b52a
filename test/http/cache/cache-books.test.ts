import { createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { prometheus } from "infergate/prometheus";
import { Registry } from "prom-client";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { MemoryResponseCache } from "../../../src/cache/memory-response-cache.js";
import type { ResponseCacheStore } from "../../../src/cache/response-cache-store.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { toNodeHandler } from "../../../src/node.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import { memoryAccountStore, memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatAnswer, chatChunks, eventStream, ManualClock, wholeAnswer } from "../../../src/testing.js";
import { startCache } from "../../support/cache/start-cache.js";
import { journalOf } from "../../support/journal-of.js";
import { smallModel } from "../../support/test-gateway.js";

const startAt = Date.UTC(2026, 0, 5, 12);
const planOf = (credits: object, more: object = {}) =>
  memoryPlanStore({ pro: { models: ["acme/*"], credits, ...more } });

/** A gateway with a ledger in another place, and a client that leaves while it works. */
async function startLeaving() {
  const clock = new ManualClock(startAt);
  const memory = memoryCreditLedger({ clock });
  const controller = new AbortController();
  let leavesIn: "reserve" | "settle" | undefined;
  const { inProcess: _, ...own } = memory;
  const ledger: CreditLedger = {
    ...own,
    async reserve(request) {
      const held = await memory.reserve(request);
      if (leavesIn === "reserve") controller.abort();
      return held;
    },
    async settle(...settled) {
      const done = await memory.settle(...settled);
      if (leavesIn === "settle") controller.abort();
      return done;
    },
  };
  const test = await startCache({ clock, ledger }, { share: 1 });
  return {
    ...test,
    leaveIn(operation: typeof leavesIn) {
      leavesIn = operation;
    },
    /** @returns the event of the request whose client leaves. */
    async leave() {
      const ended = test.nextEvent();
      const request = new Request("http://gateway.test/v1/chat/completions", {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }] }),
        signal: controller.signal,
      });
      await test.gateway.handler(request).catch(() => {});
      leavesIn = undefined;
      return await ended;
    },
  };
}

describe("the books", () => {
  it("have a share of what the response costs by the account's factor", async () => {
    const clock = new ManualClock(startAt);
    const ledger = memoryCreditLedger({ clock });
    const plans = planOf({ month: 1 }, { priceFactor: 0.8 });
    const { post } = await startCache({ clock, ledger, plans }, { share: 0.5 });
    await post();
    clock.advance(1);
    await post();
    // 39 micro-credits times 0.8 are 31.2, and the half of it is 15.6.
    const [hit, first] = await journalOf(ledger, "acct_pro");
    expect([first?.amountMicro, hit?.amountMicro]).toEqual([32, 16]);
  });

  it("have a kept response with its share of a charge, no tokens, and no cost", async () => {
    const clock = new ManualClock(startAt);
    const ledger = memoryCreditLedger({ clock });
    const registry = new Registry();
    const upstream = { provider: "fake", model: "upstream-small", cost: { input: 0.5, output: 5 } };
    const { post, gateway, events } = await startCache(
      {
        ...{ clock, ledger, requestLog: memoryRequestLog({ clock }), observers: [prometheus({ registry })] },
        models: [{ ...smallModel, upstream }],
      },
      { share: 0.3 },
    );
    await post();
    clock.advance(1);
    await post();
    const [hit, first] = await journalOf(ledger, "acct_pro");
    expect(first).toMatchObject({ amountMicro: 39, tags: { source: "provider", input: 9, output: 3 } });
    expect(hit).toMatchObject({
      amountMicro: 12,
      tags: { source: "cache", input: 0, output: 0, model: "acme/small", keyId: "key_pro", costMicro: 0 },
    });
    expect(hit?.tags).toMatchObject({ target: "fake/upstream-small", keptMicro: 39, share: "0.3" });
    // The entry alone says what it comes from.
    const { keptMicro = 0, share = 0 } = hit?.tags ?? {};
    expect(Math.ceil(Number(keptMicro) * Number(share))).toBe(hit?.amountMicro);
    const [used] = await gateway.accounts.usage("acct_pro");
    expect(used).toMatchObject({ requests: 2, chargedMicro: 51, costedMicro: 51, tokens: { input: 9, output: 3 } });
    const text = await registry.metrics();
    expect(text).toContain('infergate_charged_credits_total{model="acme/small",plan="pro"} 0.000051');
    expect(text).toContain('infergate_cached_responses_total{endpoint="chat/completions",model="acme/small"} 1');
    const { requests } = await gateway.requests.list();
    expect(requests).toMatchObject([
      { status: 200, usageSource: "cache", chargedMicro: 12, costMicro: 0, tokens: { input: 0 } },
      { status: 200, usageSource: "provider", chargedMicro: 39 },
    ]);
    expect(events[1]).toMatchObject({ heldMicro: events[0]?.heldMicro, costMicro: 0 });
  });

  it("take a priced one from prepaid credits where the plan has none left, and refuse it where neither has", async () => {
    const { post, gateway, events } = await startCache(
      { plans: planOf({ session: 0.00004 }), accounts: memoryAccountStore() },
      { share: 1 },
    );
    await gateway.accounts.put({ id: "acct_pro", plan: "pro" });
    await gateway.accounts.topUp("acct_pro", { id: "t1", credits: 0.00002 });
    await post();
    expect((await post()).cached).toBe("hit");
    expect(events[1]).toMatchObject({ chargedMicro: 39, prepaidMicro: 38, funding: "split", usageSource: "cache" });
    const refused = await post();
    expect([refused.status, refused.cached]).toEqual([429, null]);
    expect(await gateway.accounts.balance("acct_pro")).toMatchObject({ prepaid: { balanceMicro: -18 } });
  });

  it("have no charge of a free one, which takes nothing of the rates", async () => {
    const ledger = memoryCreditLedger({ clock: new ManualClock(startAt) });
    const plans = planOf({ session: 100 }, { rates: { requestsPerMinute: 2 } });
    const { post, gateway } = await startCache({ plans, ledger });
    await post();
    for (let n = 0; n < 5; n++) {
      const hit = await post();
      expect([hit.status, hit.cached, hit.headers.get("x-credits-charged")]).toEqual([200, "hit", "0"]);
    }
    const kinds = (await journalOf(ledger, "acct_pro")).map(({ kind }) => kind);
    expect(kinds.filter((kind) => kind === "charge")).toHaveLength(1);
    const { windows } = await gateway.accounts.balance("acct_pro");
    expect(windows.session).toMatchObject({ usedMicro: 39, heldMicro: 0 });
  });

  it("have a tenth of 1,000 micro-credits for each of several at once, and of what has come where a client leaves", async () => {
    const { post, upstream, gateway, events, nextEvent } = await startCache({}, { share: 0.1 });
    const usage = { prompt_tokens: 100, completion_tokens: 90, total_tokens: 190 };
    upstream.reply((request, response) =>
      (request.json.stream
        ? eventStream(chatChunks("Hello world ".repeat(1_000), { usage }))
        : wholeAnswer(chatAnswer({ usage })))(request, response),
    );
    await post();
    const hits = await Promise.all([post(), post(), post()]);
    expect(hits.map(({ cached }) => cached)).toEqual(["hit", "hit", "hit"]);
    expect(events.map(({ chargedMicro }) => chargedMicro)).toEqual([1000, 100, 100, 100]);
    const used = async () => (await gateway.accounts.balance("acct_pro")).windows.session;
    expect(await used()).toMatchObject({ usedMicro: 1300, heldMicro: 0 });
    await post({ stream: true });
    await gateway.idle();
    const ended = nextEvent();
    const response = await gateway.handler(
      new Request("http://gateway.test/v1/chat/completions", {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
        body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }], stream: true }),
      }),
    );
    expect(response.headers.get("x-infergate-cache")).toBe("hit");
    const reader = response.body?.getReader();
    await reader?.read();
    await reader?.cancel();
    const { usageSource, chargedMicro } = await ended;
    expect(usageSource).toBe("cache");
    expect(chargedMicro).toBeGreaterThan(0);
    expect(await used()).toMatchObject({ usedMicro: 2300 + chargedMicro, heldMicro: 0 });
  });

  it("give back what a priced one has taken of the rates", async () => {
    const rates = { requestsPerMinute: 2, tokensPerMinute: 100_000, concurrent: 1 };
    const { post } = await startCache({ plans: planOf({ session: 100 }, { rates }) }, { share: 0.5 });
    await post();
    for (let n = 0; n < 5; n++) {
      const hit = await post();
      expect([hit.status, hit.cached, hit.headers.get("x-ratelimit-remaining-requests")]).toEqual([200, "hit", "1"]);
    }
    expect((await post({ seed: 1 })).status).toBe(200);
    // No upstream would get it. But rates admit a call before it is known what it takes.
    expect((await post()).status).toBe(429);
  });

  it("count a priced one for budgets and caps", async () => {
    const keys = memoryKeyStore([
      { key: "sk-pro", id: "key_pro", account: "acct_pro", plan: "pro", tags: { member: "1" } },
      { key: "sk-two", account: "acct_pro", plan: "pro", tags: { member: "2" }, credits: { day: 0.00003 } },
    ]);
    const plans = planOf({ session: 100 }, { budgets: [{ tag: "member", credits: { month: 0.00006 } }] });
    const { post } = await startCache({ keys, plans }, { share: 1 });
    const statuses = async (key: string) => [
      (await post({}, { authorization: `Bearer ${key}` })).status,
      (await post({}, { authorization: `Bearer ${key}` })).status,
      (await post({}, { authorization: `Bearer ${key}` })).status,
    ];
    expect(await statuses("sk-pro")).toEqual([200, 200, 429]);
    expect(await statuses("sk-two")).toEqual([200, 429, 429]);
  });

  it("charge nothing for one whose client has left while credits were held", async () => {
    const { post, leaveIn, leave, gateway } = await startLeaving();
    await post();
    leaveIn("reserve");
    expect(await leave()).toMatchObject({ chargedMicro: 0 });
    const { windows } = await gateway.accounts.balance("acct_pro");
    expect(windows.session).toMatchObject({ usedMicro: 39, heldMicro: 0 });
  });

  it("have the charge of one whose client has left once it was complete: it is kept", async () => {
    const { post, leaveIn, leave } = await startLeaving();
    leaveIn("settle");
    expect(await leave()).toMatchObject({ chargedMicro: 39 });
    expect((await post()).cached).toBe("hit");
  });
});

describe("a kept stream", () => {
  it("is made as its client takes it, and is byte-equal to the first but for ids and dates", async () => {
    const memory = new MemoryResponseCache(256 * 1024 * 1024, new ManualClock(startAt));
    let whenKept = (): void => {};
    const kept = new Promise<void>((resolve) => {
      whenKept = resolve;
    });
    const store: ResponseCacheStore = {
      get: (account, key) => memory.get(account, key),
      put(...put) {
        memory.put(...put);
        whenKept();
      },
      forget: () => {},
    };
    const { gateway, upstream } = await startCache({}, { store, maxResponseBytes: 32 * 1024 * 1024 });
    const text = "Hello größer \u{1f600} ".repeat(500);
    const [first, ...rest] = chatChunks("!");
    const long = JSON.parse(JSON.stringify(rest[0]).replace('"!"', JSON.stringify(text)));
    upstream.reply(eventStream([first ?? {}, ...Array(1500).fill(long), ...rest]));
    const responses: ServerResponse[] = [];
    const handler = toNodeHandler(gateway);
    const server = createServer((req, res) => {
      responses.push(res);
      handler(req, res);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    const ask = () =>
      new Promise<IncomingMessage>((resolve) => {
        const headers = { authorization: "Bearer sk-pro", "content-type": "application/json" };
        const sent = request(
          { port, host: "127.0.0.1", path: "/v1/chat/completions", method: "POST", headers },
          resolve,
        );
        sent.end(JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hi" }], stream: true }));
      });
    const read = async (response: IncomingMessage) => Buffer.concat(await response.toArray()).toString();
    const made = await read(await ask());
    expect(made.length).toBeGreaterThan(12_000_000);
    await kept;
    const slow = await ask();
    expect(slow.headers["x-infergate-cache"]).toBe("hit");
    // The client reads nothing. What it has not taken waits in the cache, and no copy of it at the connection.
    await vi.waitFor(() => expect(responses[1]?.writableNeedDrain).toBe(true));
    expect(responses[1]?.writableLength).toBeLessThan(512 * 1024);
    const again = await read(slow);
    const bare = (all: string) => all.replace(/"id":"[^"]*"/g, "").replace(/"created":\d+/g, "");
    expect(bare(again) === bare(made)).toBe(true);
    expect(again === made).toBe(false);
  });
});
