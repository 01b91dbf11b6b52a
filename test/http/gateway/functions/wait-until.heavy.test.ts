import { describe, expect, it, vi } from "vitest";
import { toFetchHandler, toRouteHandlers } from "../../../../src/fetch.js";
import type { HostContext, Mountable } from "../../../../src/gateway/gateway.js";
import { LedgerInputError } from "../../../../src/ledger/credit-ledger.js";
import { nextTurn } from "../../../../src/ledger/promised.js";
import { createAccountPage } from "../../../../src/pages.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import { chatChunks, createGate, eventStream, wholeAnswer } from "../../../../src/testing.js";
import { faultyLedger } from "../../../support/guard/faulty-ledger.js";
import { chatRequest, getRequest, type TestGateway } from "../../../support/test-gateway.js";
import { post, pro } from "../in-process/start-in-process.js";
import { FunctionHost, leavingRequest, notedLedger, startFunction } from "./function-host.js";

type Call = (test: TestGateway, context: HostContext) => Promise<unknown>;

/** Each ends when its client has all of its response, or has left. */
const calls: Record<string, Call> = {
  "a whole response": async ({ gateway }, context) => (await gateway.handler(chatRequest(), context)).text(),
  "a stream": async ({ gateway }, context) => (await gateway.handler(chatRequest({ stream: true }), context)).text(),
  "a stream whose reader leaves": async ({ gateway, upstream }, context) => {
    const gate = createGate();
    gate.step(2);
    upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
    const reader = (await gateway.handler(chatRequest({ stream: true }), context)).body?.getReader();
    await reader?.read();
    await reader?.cancel();
  },
  "a stream whose client leaves": async ({ gateway, upstream }, context) => {
    const gate = createGate();
    gate.step(2);
    upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
    const { request, leave } = leavingRequest();
    const reader = (await gateway.handler(request, context)).body?.getReader();
    await reader?.read();
    leave();
  },
  "a whole response whose client leaves": async ({ gateway, upstream }, context) => {
    upstream.reply(wholeAnswer(undefined, { gate: createGate() }));
    const { request, leave } = leavingRequest({});
    const response = gateway.handler(request, context);
    await upstream.nextRequest();
    leave();
    await response;
  },
};

describe.each([{ isolate: false }, { isolate: true }])("waitUntil, with %o", (options) => {
  it.each(Object.keys(calls))("of %s is called once, first of all, and ends when all is written", async (name) => {
    let hooks = 0;
    const test = await startFunction({
      ...options,
      onRequestCompleted: async () => {
        await nextTurn();
        await nextTurn();
        hooks++;
      },
    });
    const { host } = test;
    await calls[name]?.(test, host);
    expect(host.works).toHaveLength(1);
    await host.allEnded();
    expect(host.order.slice(0, 2)).toEqual(["waitUntil", "find"]);
    const written = host.order.slice(2, -1).sort();
    expect(written).toEqual(["logged", "settled", "used"]);
    expect(host.order.at(-1)).toBe("work");
    expect(hooks).toBe(1);
    expect((await test.log.list()).requests).toHaveLength(1);
    expect(test.warnings.filter(({ code }) => code !== "secret_missing")).toEqual([]);
  });

  it("of calls in this process is that of the options", async () => {
    const host = new FunctionHost();
    const test = await startFunction({ ...options, waitUntil: host.waitUntil, ledger: notedLedger(host) });
    await (await post(test.gateway.as(pro).fetch)).text();
    await host.allEnded();
    expect(host.order).toEqual(["waitUntil", "settled", "work"]);
    expect((await test.log.list()).requests).toHaveLength(1);
  });

  it("is called for a wrong key, an unknown path and a list; not for probes and pages", async () => {
    const test = await startFunction(options);
    const { host, gateway } = test;
    const requests = [
      [401, chatRequest({}, "sk-wrong")],
      [401, chatRequest({}, null)],
      [404, getRequest("/v1/nowhere")],
      [200, getRequest("/v1/models")],
      [404, chatRequest({ model: "acme/none" })],
    ] as const;
    for (const [index, [status, request]] of requests.entries()) {
      expect((await gateway.handler(request, host)).status).toBe(status);
      expect(host.works).toHaveLength(index + 1);
    }
    await host.allEnded();
    expect((await test.log.list()).requests).toHaveLength(requests.length);
    await gateway.handler(getRequest("/healthz", null), host);
    await gateway.handler(getRequest("/readyz", null), host);
    const page = createAccountPage({ gateway, identify: () => ({ account: "acct_pro" }) });
    const there = new Request("http://app.test/", { headers: { host: "app.test" } });
    expect((await page.handler(there, host)).status).toBe(200);
    expect(host.works).toHaveLength(requests.length);
  });

  it("of the options goes before the host's own", async () => {
    const [own, given] = [new FunctionHost(), new FunctionHost()];
    const test = await startFunction({ ...options, waitUntil: given.waitUntil });
    await test.gateway.handler(getRequest("/v1/models"), own);
    expect([own.works.length, given.works.length]).toEqual([0, 1]);
  });

  it("waits for a ledger that is slower than the end of the response", async () => {
    const host = new FunctionHost();
    const store = memoryCreditLedger();
    const gate = createGate();
    const slow: typeof store.settle = async (lease, settlement) => {
      await gate.pass();
      return store.settle(lease, settlement);
    };
    const ledger = notedLedger(host, { ...store, settle: slow });
    const test = await startFunction({ ...options, ledger, ledgerOptions: { settleBeforeEndMs: 1 } });
    await (await test.gateway.handler(chatRequest({ stream: true }), host)).text();
    host.order.push("response");
    gate.open();
    await host.allEnded();
    expect(host.order).toEqual(["waitUntil", "response", "settled", "work"]);
  });

  it("waits for a settlement that is kept until the ledger takes it", async () => {
    const host = new FunctionHost();
    const faulty = faultyLedger(memoryCreditLedger());
    faulty.fates = ["ok", "refused", "lost", "refused"];
    const test = await startFunction({ ...options, ledger: notedLedger(host, faulty) });
    await (await test.gateway.handler(chatRequest(), host)).text();
    host.order.push("response");
    await host.allEnded();
    expect(host.order.slice(-3)).toEqual(["response", "settled", "work"]);
    expect(faulty.arrived).toEqual(["reserve", "settle", "settle", "settle", "settle"]);
    expect(test.gateway.health().ledgers).toMatchObject([{ kept: 0, lost: 0 }]);
  });

  it("waits for onThreshold", async () => {
    const host = new FunctionHost();
    const gate = createGate();
    const test = await startFunction({
      ...options,
      ledger: notedLedger(host),
      plans: { find: () => ({ id: "pro", models: ["acme/*"], credits: { session: 0.00004 } }) },
      onThreshold: host.noting("told", () => gate.pass()),
    });
    // A call costs 39 micro-credits.
    await (await test.gateway.handler(chatRequest({ max_tokens: 1 }), host)).text();
    await vi.waitFor(() => expect(gate.waiting).toBeGreaterThan(0));
    host.order.push("response");
    gate.open();
    await host.allEnded();
    expect(host.order.indexOf("response")).toBeLessThan(host.order.indexOf("told"));
    expect(host.order.at(-1)).toBe("work");
  });

  it("gets work that does not reject where stores and hooks fail, and ends all the same", async () => {
    const host = new FunctionHost();
    const store = memoryCreditLedger();
    const refuse = async () => Promise.reject(new LedgerInputError("No."));
    const test = await startFunction({
      ...options,
      ledger: { ...store, settle: refuse, release: refuse },
      keys: {
        find: () => ({ id: "key_pro", account: "acct_pro", plan: "pro" }),
        touch: () => Promise.reject(new Error("down")),
      },
      onRequestCompleted: () => Promise.reject(new Error("down")),
    });
    await (await test.gateway.handler(chatRequest(), host)).text();
    await host.allEnded();
    expect(host.order.filter((step) => step === "work" || step === "rejected")).toEqual(["work"]);
    const codes = new Set(test.warnings.map(({ code }) => code));
    expect(codes).toContain("ledger_failed");
    expect(codes).toContain("key_store_failed");
    expect(codes).toContain("hook_failed");
  });

  it.each<[string, HostContext["waitUntil"]]>([
    [
      "throws",
      () => {
        throw new Error("There is no request.");
      },
    ],
    ["rejects", (() => Promise.reject(new Error("There is no request."))) as HostContext["waitUntil"]],
  ])("that %s is a warning once, and harms no call", async (_, waitUntil) => {
    const test = await startFunction(options);
    for (let call = 0; call < 3; call++) {
      const response = await test.gateway.handler(chatRequest(), { waitUntil });
      expect(response.status).toBe(200);
      await response.text();
    }
    await test.gateway.idle();
    const told = test.warnings.filter(({ code }) => code === "hook_failed");
    expect(told).toMatchObject([{ message: expect.stringContaining("waitUntil") }]);
    expect(told[0]?.cause).toMatchObject({ message: "There is no request." });
    expect((await test.log.list()).requests).toHaveLength(3);
  });
});

describe("the host's own waitUntil", () => {
  /** It refuses to be called without its object, as that of Workers does. */
  class Context {
    readonly #works: Promise<unknown>[] = [];
    waitUntil(work: Promise<unknown>): void {
      this.#works.push(work);
    }
    get works(): number {
      return this.#works.length;
    }
  }

  async function callWith(mount: (gateway: Mountable) => (request: Request, ...rest: unknown[]) => Promise<Response>) {
    const test = await startFunction();
    return async (request: Request, ...rest: unknown[]) => {
      expect((await mount(test.gateway)(request, ...rest)).status).toBe(200);
      expect(test.warnings).toEqual([]);
    };
  }

  it("is found in what Workers, Netlify and srvx give", async () => {
    const call = await callWith(toFetchHandler);
    const [worker, netlify, srvx] = [new Context(), new Context(), new Context()];
    await call(getRequest("/v1/models"), { DB: "env" }, worker);
    await call(getRequest("/v1/models"), netlify);
    await call(Object.assign(getRequest("/v1/models"), { waitUntil: srvx.waitUntil.bind(srvx) }));
    expect([worker.works, netlify.works, srvx.works]).toEqual([1, 1, 1]);
  });

  it("is missed where others give what has none", async () => {
    const call = await callWith(toFetchHandler);
    for (const rest of [[], [undefined], [null, 1], [{ waitUntil: "soon" }], [{ params: Promise.resolve({}) }]]) {
      await call(getRequest("/v1/models"), ...rest);
    }
  });

  it("is given to route handlers, whose own context has none", async () => {
    const host = new FunctionHost();
    const call = await callWith((gateway) => toRouteHandlers(gateway, { waitUntil: host.waitUntil }).GET);
    await call(getRequest("/v1/models"), { params: Promise.resolve({}) });
    expect(host.works).toHaveLength(1);
  });
});

it("a log without a line for a request keeps its work from ending", async () => {
  const store = memoryRequestLog();
  const gate = createGate();
  const host = new FunctionHost();
  const write = host.noting("logged", async (lines: Parameters<typeof store.write>[0]) => {
    await gate.pass();
    return store.write(lines);
  });
  const test = await startFunction({ requestLog: { ...store, write } });
  await test.gateway.handler(getRequest("/v1/models"), host);
  await vi.waitFor(() => expect(gate.waiting).toBe(1));
  // One that comes while a batch is written waits for the next one.
  await test.gateway.handler(getRequest("/v1/models"), host);
  expect(host.order).not.toContain("work");
  gate.step();
  await host.works[0];
  gate.open();
  await host.allEnded();
  expect((await store.list()).requests).toHaveLength(2);
  expect(host.order.filter((step) => step === "logged" || step === "work").at(-1)).toBe("work");
});
