import { afterEach, describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import type { LedgerEntry } from "../../../src/ledger/credit-ledger.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import {
  chatChunks,
  createGate,
  errorBody,
  eventStream,
  type FakeUpstream,
  sampleUsage,
  startFakeUpstream,
  wholeAnswer,
} from "../../../src/testing.js";
import { journalOf } from "../../support/journal-of.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

interface Pair extends TestGateway {
  a: FakeUpstream;
  b: FakeUpstream;
  /** The tags of the account's charges, the newest first. */
  tags(): Promise<readonly Readonly<Record<string, string | number>>[]>;
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** 1 micro-credit a prompt token, 4 an output token. The sample of 9 and 3 tokens costs 9 · 1 + 3 · 4 = 21. */
const cheap = { input: 1, output: 4 };
/** The sample costs 9 · 3 + 3 · 5 = 42, and 7 for the call: 49. */
const dear = { input: 3, output: 5, request: 0.000007 };

/** A gateway whose one model can go to two servers. */
async function start(model: Partial<Model> = {}, options: Partial<GatewayOptions> = {}): Promise<Pair> {
  const a = await startFakeUpstream();
  const b = await startFakeUpstream();
  // Before the gateway, which may be refused.
  closers.push(
    () => a.close(),
    () => b.close(),
  );
  const ledger = memoryCreditLedger();
  const upstream = [
    { provider: "a", model: "upstream-a", cost: cheap },
    { provider: "b", model: "upstream-b", cost: dear },
  ];
  const test = await startTestGateway({
    ledger,
    models: [{ ...smallModel, upstream, ...model }],
    providers: { a: openAICompatible({ baseURL: a.url }), b: openAICompatible({ baseURL: b.url }) },
    ...options,
  });
  closers.push(() => test.close());
  return { ...test, a, b, tags: async () => chargesOf(await journalOf(ledger, "acct_pro")) };
}

function chargesOf(entries: readonly LedgerEntry[]): LedgerEntry["tags"][] {
  return entries.filter(({ kind }) => kind === "charge").map(({ tags }) => tags);
}

async function call({ gateway }: TestGateway, body: Record<string, unknown> = {}): Promise<number> {
  const response = await gateway.handler(chatRequest(body));
  await response.text();
  return response.status;
}

const usage = { ...sampleUsage };
const failed = wholeAnswer({ ...errorBody("Oops."), usage }, { status: 500 });
const failedUnknown = wholeAnswer(errorBody("Oops."), { status: 500 });

describe("what a call costs the operator", () => {
  it.each([false, true])("stands in the event, in its attempt and in the journal (stream: %s)", async (stream) => {
    const test = await start();
    expect(await call(test, { stream })).toBe(200);
    expect(test.events).toMatchObject([
      { chargedMicro: 39, costMicro: 21, attempts: [{ outcome: "completed", costMicro: 21 }] },
    ]);
    expect(await test.tags()).toMatchObject([{ input: 9, output: 3, costMicro: 21 }]);
  });

  it("is by the target that served the call", async () => {
    const test = await start();
    test.a.reply(failedUnknown);
    await call(test);
    expect(test.events).toMatchObject([{ chargedMicro: 39, costMicro: 49 }]);
    const [first, second] = test.events[0]?.attempts ?? [];
    expect(first).not.toHaveProperty("costMicro");
    expect(second).toMatchObject({ provider: "b", costMicro: 49 });
    expect(await test.tags()).toMatchObject([{ target: "b/upstream-b", costMicro: 49 }]);
  });

  it.each([
    [false, 39],
    [true, 78],
  ])("includes failed attempts that say what they used, charged or not: %s", async (chargeFailedAttempts, micro) => {
    const test = await start({ chargeFailedAttempts });
    test.a.reply(failed);
    await call(test);
    expect(test.events).toMatchObject([
      { chargedMicro: micro, costMicro: 70, attempts: [{ costMicro: 21 }, { costMicro: 49 }] },
    ]);
    expect(test.events[0]?.usageSource).toBe("provider");
    expect(await test.tags()).toMatchObject([{ input: micro === 39 ? 9 : 18, costMicro: 70 }]);
  });

  it("is known of a call of which all attempts failed, which is not charged", async () => {
    const test = await start();
    test.a.reply(failed);
    test.b.reply(failed);
    expect(await call(test)).toBe(502);
    expect(test.events).toMatchObject([
      { chargedMicro: 0, costMicro: 70, attempts: [{ costMicro: 21 }, { costMicro: 49 }] },
    ]);
    expect(test.events[0]).not.toHaveProperty("usageSource");
    expect(await test.tags()).toEqual([]);
  });

  it("is in the event alone for a model that is free", async () => {
    const test = await start({ price: { input: 0, output: 0 } });
    await call(test);
    expect(test.events).toMatchObject([{ chargedMicro: 0, costMicro: 21, attempts: [{ costMicro: 21 }] }]);
    expect(await test.tags()).toEqual([]);
  });

  it("of a client that left is worked out from what it is charged for", async () => {
    const gate = createGate();
    const test = await start();
    const [first, ...rest] = chatChunks("Hello there", { usage });
    test.a.reply(eventStream([first ?? {}, ...rest.slice(0, 1), gate, ...rest.slice(1)]));
    const leaves = new AbortController();
    const response = await test.gateway.handler(new Request(chatRequest({ stream: true }), { signal: leaves.signal }));
    await response.body?.getReader().read();
    const event = test.nextEvent();
    leaves.abort();
    const { tokens, costMicro } = await event;
    gate.open();
    expect(tokens.output).toBeGreaterThan(0);
    expect(costMicro).toBe(tokens.input + 4 * tokens.output);
  });

  it("is absent everywhere where no target says it", async () => {
    const upstream = [
      { provider: "a", model: "upstream-a" },
      { provider: "b", model: "upstream-b", price: { input: 2, output: 3 } },
    ];
    const test = await start({ upstream });
    await call(test);
    test.a.reply(failed);
    await call(test);
    const said = JSON.stringify([test.events, await test.tags()]);
    expect(test.events).toHaveLength(2);
    expect(said).not.toMatch(/cost/i);
  });

  it("is that of the failed attempts where the last target does not say its own", async () => {
    const upstream = [
      { provider: "a", model: "upstream-a", cost: cheap },
      { provider: "b", model: "upstream-b" },
    ];
    const test = await start({ upstream });
    test.a.reply(failed);
    await call(test);
    expect(test.events).toMatchObject([{ costMicro: 21, attempts: [{ costMicro: 21 }, {}] }]);
    expect(test.events[0]?.attempts[1]).not.toHaveProperty("costMicro");
    expect(await test.tags()).toMatchObject([{ costMicro: 21 }]);
  });

  it("stays a safe integer, so that sums can add it", async () => {
    const most = { input: 9_000_000_000, output: 9_000_000_000, request: 9_000_000_000 };
    const upstream = [
      { provider: "a", model: "upstream-a", cost: most },
      { provider: "b", model: "upstream-b", cost: most },
    ];
    const test = await start({ upstream });
    test.a.reply(failed);
    await call(test);
    expect(test.events[0]?.costMicro).toBe(Number.MAX_SAFE_INTEGER);
    expect(await test.tags()).toMatchObject([{ costMicro: Number.MAX_SAFE_INTEGER }]);
  });

  it("can be no tag of the host's", async () => {
    const test = await start({}, { onRequest: () => ({ tags: { costMicro: "7" } }) });
    await call(test);
    expect(await test.tags()).toMatchObject([{ costMicro: 21, "tag.costMicro": "7" }]);
  });

  it("changes with the catalog", async () => {
    const test = await start();
    await test.gateway.update({
      models: [{ ...smallModel, upstream: { provider: "a", model: "upstream-a", cost: dear } }],
    });
    await call(test);
    expect(test.events).toMatchObject([{ costMicro: 49 }]);
  });
});

describe("a cost that is not valid", () => {
  it.each([
    [{ input: 1 }, 'The target "a" of the model "acme/small" has no cost.output.'],
    [{ input: 0.1 + 0.2, output: 1 }, 'the cost of the target "a" of the model "acme/small" is not valid: cost.input'],
    [{ input: -1, output: 1 }, "cost.input"],
  ])("is refused: %o", async (cost, message) => {
    await expect(start({ upstream: { provider: "a", model: "upstream-a", cost } })).rejects.toThrow(message);
  });
});
