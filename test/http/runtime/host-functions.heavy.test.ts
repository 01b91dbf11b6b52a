import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { aiSDK } from "../../../src/ai-sdk.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { logs } from "../../../src/logs.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

/** What nobody may look at: whatever is asked of it throws. */
const untouchable = (): object => {
  const refuse = () => {
    throw new Error("Nobody may look at it.");
  };
  return new Proxy(function thrown() {}, {
    get: refuse,
    has: refuse,
    getPrototypeOf: refuse,
    getOwnPropertyDescriptor: refuse,
    ownKeys: refuse,
  });
};

/** An error whose members throw when they are read. */
const secretive = (): Error =>
  Object.defineProperties(new Error("x"), {
    name: { get: () => JSON.parse("{") },
    message: { get: () => JSON.parse("{") },
    stack: { get: () => JSON.parse("{") },
  });

const thrown: [string, () => unknown][] = [
  ["an error", () => new Error("of the host")],
  ["a text", () => "of the host"],
  ["nothing", () => undefined],
  ["null", () => null],
  ["a symbol", () => Symbol("of the host")],
  ["an object without a prototype", () => Object.create(null)],
  ["a proxy that throws", untouchable],
  ["an error whose members throw", secretive],
];

/** Every function that a host may give, each of which throws, rejects, or returns a promise that rejects. */
const functions: Record<string, (fail: () => never) => Partial<GatewayOptions>> = {
  "when of a guard": (fail) => ({ guards: [{ name: "words", when: fail, answer: () => undefined }] }),
  "answer of a guard": (fail) => ({ guards: [{ name: "words", answer: fail }] }),
  onRequest: (fail) => ({ onRequest: fail }),
  onRequestCompleted: (fail) => ({ onRequestCompleted: fail }),
  onThreshold: (fail) => ({ onThreshold: fail, thresholds: { percent: [1] } }),
  onLedgerEvent: (fail) => ({ onLedgerEvent: fail }),
  requestId: (fail) => ({ requestId: fail }),
  waitUntil: (fail) => ({ waitUntil: fail }),
  "find of a key store": (fail) => ({ keys: { find: fail } }),
  "find of a plan store": (fail) => ({ plans: { find: fail } }),
  "find of an account store": (fail) => ({ accounts: { find: fail } }),
  "reserve of a ledger": (fail) => ({ ledger: { ...memoryCreditLedger(), inProcess: false, reserve: fail } }),
  "settle of a ledger": (fail) => {
    const ledger = memoryCreditLedger();
    return { ledger: { ...ledger, inProcess: false, settle: firstFails(fail, ledger.settle) } };
  },
  "write of a request log": (fail) => {
    const log = memoryRequestLog();
    return { requestLog: { ...log, write: firstFails(fail, log.write) } };
  },
  "count of a tokenizer": (fail) => ({ models: [{ ...smallModel, tokenizer: { count: fail } }] }),
  "call of a provider": (fail) => ({ providers: { fake: { call: fail } } }),
  "apiKey of a provider": (fail) => ({
    providers: { fake: openAICompatible({ baseURL: "http://127.0.0.1:9/v1", apiKey: fail }) },
  }),
  "model of the AI SDK": (fail) => ({ providers: { fake: aiSDK({ model: fail }) } }),
  "a logger": (fail) => ({ observers: [logs({ info: fail, warn: fail, error: fail })] }),
  "onRequest of an observer": (fail) => ({ observers: [{ onRequest: fail }] }),
};

/** Fails once, and then does its work: else the gateway would try for seconds when it closes. */
function firstFails<Given extends unknown[], Result>(fail: () => never, work: (...given: Given) => Result) {
  let isFirst = true;
  return (...given: Given): Result => {
    if (!isFirst) return work(...given);
    isFirst = false;
    return fail();
  };
}

const caught: unknown[] = [];
const take = (error: unknown) => void caught.push(error);
let test: TestGateway | undefined;
beforeEach(() => {
  process.on("unhandledRejection", take).on("uncaughtException", take);
});
afterEach(async () => {
  await test?.close();
  test = undefined;
  // A rejection that nobody has handled is told when the turn is over.
  await new Promise((resolve) => setImmediate(resolve));
  process.off("unhandledRejection", take).off("uncaughtException", take);
  expect(caught.splice(0)).toEqual([]);
});

const body = { user: "a", max_tokens: 5, messages: [{ role: "user", content: "a word ".repeat(300) }] };

describe.each(Object.entries(functions))("%s", (_name, optionsOf) => {
  it.each(thrown)("may throw, or reject with, %s: the call ends, and the process goes on", async (_what, make) => {
    const fails = [
      (): never => {
        throw make();
      },
      (() => Promise.reject(make())) as () => never,
    ];
    for (const fail of fails) {
      test = await startTestGateway({
        ...optionsOf(fail),
        ledgerOptions: { reserveTimeoutMs: 50, settleBeforeEndMs: 50 },
      });
      for (const stream of [false, true]) {
        const response = await test.gateway.handler(chatRequest({ ...body, stream }));
        expect([200, 500, 502, 503]).toContain(response.status);
        await response.text().catch(() => {});
      }
      await test.close();
      test = undefined;
    }
  });
});

it("a tokenizer that fails is told once, and the prompt is bounded as without it", async () => {
  const held: number[] = [];
  for (const count of [undefined, async () => Promise.reject(new Error("away")), () => -1, () => Number.NaN]) {
    test = await startTestGateway({
      models: [{ ...smallModel, ...(count && { tokenizer: { count: count as unknown as () => number } }) }],
    });
    for (let times = 0; times < 2; times++) {
      const response = await test.gateway.handler(chatRequest(body));
      expect(response.status).toBe(200);
      await response.text();
    }
    held.push(test.events[0]?.heldMicro ?? 0);
    const told = test.warnings.filter(({ code }) => code === "hook_failed");
    expect(told).toHaveLength(count === undefined ? 0 : 1);
    await test.close();
    test = undefined;
  }
  expect(new Set(held).size).toBe(1);
});

it("an apiKey function that hangs is given up after connectTimeoutMs: 502, and nothing is held", async () => {
  const hangs = openAICompatible({
    baseURL: "http://127.0.0.1:9/v1",
    apiKey: () => new Promise<string>(() => {}),
    connectTimeoutMs: 50,
  });
  test = await startTestGateway({ providers: { fake: hangs } });
  const response = await test.gateway.handler(chatRequest(body));
  expect(response.status).toBe(502);
  expect((await test.gateway.accounts.balance("acct_pro")).windows.month).toMatchObject({ heldMicro: 0, usedMicro: 0 });
  expect(test.warnings.map(({ message }) => message).join()).toContain(
    "apiKey function of openAICompatible gave no key within 50 ms",
  );
});

it("a guard whose when is async checks the response, and the host is told", async () => {
  const answer = vi.fn(() => undefined);
  test = await startTestGateway({
    guards: [{ name: "words", when: (async () => false) as unknown as () => boolean, answer }],
  });
  await (await test.gateway.handler(chatRequest(body))).text();
  expect(answer).toHaveBeenCalledTimes(1);
  expect(test.warnings.map(({ code }) => code)).toEqual(["hook_failed"]);
});

it("reasoning of the AI SDK that is async is a 502 that says so", async () => {
  const model = { specificationVersion: "v3", provider: "acme", modelId: "m", doGenerate() {}, doStream() {} };
  const provider = aiSDK({
    model: model as never,
    reasoning: (async () => Promise.reject(new Error("away"))) as never,
  });
  test = await startTestGateway({ providers: { fake: provider } });
  const response = await test.gateway.handler(chatRequest({ ...body, reasoning_effort: "low" }));
  expect(response.status).toBe(502);
  expect(test.warnings.map(({ message }) => message).join()).toContain("`reasoning` must not be async");
});
