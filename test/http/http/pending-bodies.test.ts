import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import type { GatewayRequest } from "../../../src/http/message.js";
import { PendingBodies } from "../../../src/http/request-body.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatChunks, createGate, eventStream, hangBeforeHeaders } from "../../../src/testing.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const maxBodyBytes = 20_000;

/** A call whose body comes as the test says. */
function open(test: TestGateway, key = "sk-pro", headers: Record<string, string> = {}) {
  let controller: ReadableStreamDefaultController<Uint8Array> | undefined;
  const leaving = new AbortController();
  const init: RequestInit & { duplex: "half" } = {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}`, ...headers },
    body: new ReadableStream<Uint8Array>({
      start: (started) => {
        controller = started;
      },
    }),
    signal: leaving.signal,
    duplex: "half",
  };
  const response = test.gateway.handler(new Request("http://gateway.test/v1/chat/completions", init));
  return {
    response,
    send: (bytes: number | string) =>
      controller?.enqueue(typeof bytes === "string" ? Buffer.from(bytes) : Buffer.alloc(bytes, " ")),
    end: () => controller?.close(),
    fail: () => controller?.error(new Error("broken")),
    leave: () => leaving.abort(),
  };
}

const start = (options: Partial<GatewayOptions> = {}) => startTestGateway({ maxBodyBytes, ...options });
const turns = async (count = 20) => {
  for (let turn = 0; turn < count; turn++) await new Promise((resolve) => setImmediate(resolve));
};
const question = '{"model":"acme/small","messages":[{"role":"user","content":"Hi"}]';
const bodyOf = (bytes: number) => `${question}}`.padEnd(bytes);

async function told(response: Promise<Response>) {
  const { status, headers, ...rest } = await response;
  const body = (await (await response).json()) as { error?: { code: string; type: string } };
  return {
    status,
    retryAfter: headers.get("retry-after"),
    shouldRetry: headers.get("x-should-retry"),
    ...body,
    ...rest,
  };
}

describe("bodies that wait", () => {
  it("of an account have their part: beyond it a 429 that clients repeat", async () => {
    const test = await start({ maxPendingBodyBytes: 100_000 });
    const first = open(test);
    first.send(15_000);
    await turns();
    const second = open(test, "sk-narrow");
    second.send(10_001);
    expect(await told(second.response)).toMatchObject({
      status: 429,
      retryAfter: "2",
      shouldRetry: null,
      error: { code: "rate_limit_exceeded", type: "requests" },
    });
    // What the refused one had is free again, and others have their own.
    const [third, other] = [open(test), open(test, "sk-basic")];
    third.send(bodyOf(10_000));
    third.end();
    other.send(bodyOf(20_000));
    other.end();
    expect((await third.response).status).toBe(200);
    expect((await other.response).status).toBe(200);
    first.send(bodyOf(1_000));
    first.end();
    expect((await first.response).status).toBe(200);
    await test.close();
  });

  it("of all accounts have a bound: beyond it a 503 that clients repeat", async () => {
    const test = await start({ maxPendingBodyBytes: 30_000 });
    const first = open(test);
    first.send(20_000);
    await turns();
    const second = open(test, "sk-basic");
    second.send(10_001);
    expect(await told(second.response)).toMatchObject({
      status: 503,
      retryAfter: "5",
      shouldRetry: null,
      error: { code: "service_unavailable" },
    });
    first.leave();
    expect((await first.response).status).toBe(499);
    await test.close();
  });

  it("do not count before they have come, whatever length they announce", async () => {
    const test = await start({ maxPendingBodyBytes: 20_000 });
    const announced = Array.from({ length: 10 }, () => open(test, "sk-pro", { "content-length": "20000" }));
    await turns();
    const call = open(test);
    call.send(bodyOf(20_000));
    call.end();
    expect((await call.response).status).toBe(200);
    for (const one of announced) one.leave();
    await Promise.all(announced.map(({ response }) => response));
    await test.close();
  });

  it.each(["plan", "ledger"])("count while the %s store is asked", async (slow) => {
    const gate = createGate();
    const plans = memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 100 } } });
    const ledger = memoryCreditLedger();
    const wait = async <Result>(work: () => Promise<Result> | Result) => {
      await gate.pass();
      return await work();
    };
    const test = await start({
      maxPendingBodyBytes: 20_000,
      ...(slow === "plan" ? { plans: { find: (id) => wait(() => plans.find(id)) } } : {}),
      ...(slow === "ledger"
        ? { ledger: { ...ledger, reserve: (request) => wait(() => ledger.reserve(request)) } }
        : {}),
      ledgerOptions: { reserveTimeoutMs: 10_000 },
      storeTimeoutMs: 10_000,
    });
    const waiting = open(test);
    waiting.send(bodyOf(15_000));
    waiting.end();
    while (gate.waiting === 0) await turns(1);
    const refused = open(test);
    refused.send(bodyOf(6_000));
    expect((await refused.response).status).toBe(429);
    gate.open();
    expect((await waiting.response).status).toBe(200);
    const last = open(test);
    last.send(bodyOf(20_000));
    last.end();
    expect((await last.response).status).toBe(200);
    await test.close();
  });

  it("do not count any more once their calls are admitted, and hold stock", async () => {
    const test = await start({ maxPendingBodyBytes: 20_000 });
    test.upstream.replyOnce(hangBeforeHeaders());
    const admitted = open(test);
    admitted.send(bodyOf(20_000));
    admitted.end();
    await test.upstream.nextRequest();
    const call = open(test);
    call.send(bodyOf(20_000));
    call.end();
    expect((await call.response).status).toBe(200);
    admitted.leave();
    expect((await admitted.response).status).toBe(499);
    await test.close();
  });

  it.each([
    ["a model that costs nothing", "acme/free", "sk-pro"],
    ["a plan without limits", "acme/small", "sk-basic"],
  ])("count to the end of their calls where no stock bounds these: %s", async (_what, model, key) => {
    const test = await start({ maxPendingBodyBytes: 20_000 });
    const gate = createGate();
    test.upstream.replyOnce(eventStream(chatChunks("Hello"), { gate }));
    const body = bodyOf(15_000).replace("acme/small", model).replace("]}", '],"stream":true}');
    const admitted = open(test, key);
    admitted.send(body);
    admitted.end();
    await test.upstream.nextRequest();
    gate.step(2);
    const response = await admitted.response;
    expect(response.status).toBe(200);
    const refused = open(test, key);
    refused.send(body);
    expect((await refused.response).status).toBe(429);
    gate.open();
    await response.text();
    test.upstream.replyOnce(hangBeforeHeaders());
    const silent = open(test, key);
    silent.send(body);
    silent.end();
    await test.upstream.nextRequest();
    const other = open(test, key);
    other.send(body);
    expect((await other.response).status).toBe(429);
    silent.leave();
    expect((await silent.response).status).toBe(499);
    const last = open(test, key);
    last.send(bodyOf(20_000));
    last.end();
    expect((await last.response).status).toBe(200);
    await test.close();
  });

  const fates = {
    completed: { send: [bodyOf(9_000)], end: "end" },
    inPieces: { send: [question, 4_000, "}"], end: "end" },
    aborted: { send: [question], end: "leave" },
    broken: { send: [7_000], end: "fail" },
    tooLarge: { send: [15_000, 5_001], end: "none" },
    tooSlow: { send: [3_000], end: "none" },
    noJson: { send: ["{", 2_000], end: "end" },
    unknownModel: { send: [bodyOf(8_000).replace("acme/small", "nobody")], end: "end" },
    denied: { send: [bodyOf(8_000)], end: "end", key: "sk-poor" },
    empty: { send: [], end: "end" },
  } as const;

  it("leave no byte behind, however they end", async () => {
    const keys = memoryKeyStore([
      { key: "sk-pro", account: "acct_pro", plan: "pro" },
      { key: "sk-basic", account: "acct_basic", plan: "pro" },
      { key: "sk-poor", account: "acct_poor", plan: "poor" },
    ]);
    const plans = memoryPlanStore({
      pro: { models: ["acme/*"], credits: { session: 100_000 } },
      poor: { models: ["acme/*"], credits: { session: 0 } },
    });
    const names = Object.keys(fates) as (keyof typeof fates)[];
    const seen = new Set<number>();
    await fc.assert(
      fc.asyncProperty(fc.array(fc.constantFrom(...names), { minLength: 1, maxLength: 12 }), async (mix) => {
        const test = await start({ maxPendingBodyBytes: 25_000, bodyTimeoutMs: 40, keys, plans });
        const calls = mix.map((name) => {
          const { send, end, ...rest } = fates[name];
          const call = open(test, "key" in rest ? rest.key : "sk-pro");
          for (const piece of send) call.send(piece);
          if (end !== "none") call[end]();
          return call;
        });
        for (const { response } of calls) {
          const { status, body } = await response;
          seen.add(status);
          await body?.cancel();
        }
        // All of the budget is one body's again, and the account's whole part.
        const last = open(test);
        last.send(bodyOf(20_000));
        last.end();
        expect((await last.response).status).toBe(200);
        await test.close();
      }),
      { numRuns: 40, endOnFailure: true },
    );
    expect([...seen].toSorted()).toEqual(expect.arrayContaining([200, 400, 404, 408, 413, 429]));
  });
});

describe("the count of pending bodies", () => {
  const step = fc.record({
    request: fc.nat(5),
    bytes: fc.option(fc.nat(60), { nil: undefined }),
  });

  it("is the sum of what waits, within its bounds, and nothing when all have gone", () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
        const pending = new PendingBodies(100, 40);
        const requests = Array.from({ length: 6 }, () => ({}) as GatewayRequest);
        const held = requests.map(() => 0);
        const ofAccount = (account: number) => (held[account] ?? 0) + (held[account + 3] ?? 0);
        for (const { request, bytes } of steps) {
          const one = requests[request] as GatewayRequest;
          const account = request % 3;
          if (bytes === undefined) {
            pending.drop(one);
            held[request] = 0;
            continue;
          }
          const all = held.reduce((sum, each) => sum + each, 0);
          const refusal = pending.add(one, `account ${account}`, bytes);
          const expected = ofAccount(account) + bytes > 40 ? "over_share" : all + bytes > 100 ? "no_room" : undefined;
          expect(refusal).toBe(expected);
          if (refusal === undefined) held[request] = (held[request] ?? 0) + bytes;
          expect(pending.bytes).toBe(held.reduce((sum, each) => sum + each, 0));
        }
        for (const request of requests) pending.drop(request);
        expect([pending.bytes, pending.size]).toEqual([0, 0]);
        for (const account of [0, 1])
          expect(pending.add({} as GatewayRequest, `account ${account}`, 40)).toBeUndefined();
      }),
    );
  });
});

it.each([
  ["its client leaves", 499],
  ["the gateway closes", 503],
])("a call reserves nothing any more when %s before it is admitted", async (_why, status) => {
  const ledger = memoryCreditLedger();
  let asked = 0;
  const reserve: typeof ledger.reserve = (request) => {
    asked++;
    return ledger.reserve(request);
  };
  const gate = createGate();
  const found = memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 100 } } });
  const find: typeof found.find = async (id) => {
    await gate.pass();
    return await found.find(id);
  };
  const test = await startTestGateway({ ledger: { ...ledger, reserve }, plans: { find } });
  const call = open(test);
  call.send(bodyOf(1000));
  call.end();
  while (gate.waiting === 0) await turns(1);
  if (status === 499) call.leave();
  const closed = status === 503 ? test.gateway.close() : undefined;
  gate.open();
  expect((await call.response).status).toBe(status);
  expect(asked).toBe(0);
  await closed;
  await test.close();
});
