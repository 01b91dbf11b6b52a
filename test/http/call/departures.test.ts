import { describe, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { createGate, hangBeforeHeaders } from "../../../src/testing.js";
import { chatRequest, startTestGateway } from "../../support/test-gateway.js";

const ledger = () => memoryCreditLedger();

async function stock(of: ReturnType<typeof ledger>) {
  const credits = { session: 100e6, week: null, month: null };
  const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
  const { usedMicro, heldMicro } = (await of.balance("acct_pro", limits)).windows.session;
  return { used: usedMicro, held: heldMicro };
}

function leavingRequest(body: Record<string, unknown>) {
  const leaving = new AbortController();
  return { leaving, request: new Request(chatRequest(body), { signal: leaving.signal }) };
}

describe("a client that leaves", () => {
  it.each([false, true])("before the upstream has answered pays for the prompt (stream: %s)", async (stream) => {
    const books = ledger();
    const test = await startTestGateway({ ledger: books });
    test.upstream.reply(hangBeforeHeaders());
    const { leaving, request } = leavingRequest({ stream });
    const response = test.gateway.handler(request);
    const sent = await test.upstream.nextRequest();
    leaving.abort();
    expect((await response).status).toBe(499);
    expect(await sent.closed).toBe("broken");
    const [event] = test.events;
    expect(event).toMatchObject({ status: 499, errorCode: "client_gone", endReason: "client_gone" });
    expect(event).toMatchObject({ usageSource: "partial", disconnect: "cancelled", tokens: { output: 0 } });
    expect(event?.tokens.input).toBeGreaterThan(0);
    expect(await stock(books)).toEqual({ used: event?.tokens.input, held: 0 });
    await test.close();
  });

  it("while a whole answer arrives pays for the prompt and what has come", async () => {
    const books = ledger();
    const test = await startTestGateway({ ledger: books });
    const gate = createGate();
    test.upstream.reply(async (_request, response) => {
      response.writeHead(200, { "content-type": "application/json" });
      response.write(`{"choices":[{"message":{"content":"${"x".repeat(300)}`);
      gate.open();
    });
    const { leaving, request } = leavingRequest({});
    const response = test.gateway.handler(request);
    await gate.pass();
    // The bytes are on their way: what has come of them is what counts.
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    expect((await response).status).toBe(499);
    const [event] = test.events;
    expect(event).toMatchObject({ endReason: "client_gone", usageSource: "partial" });
    expect(event?.tokens.input).toBeGreaterThan(0);
    expect(await stock(books)).toEqual({ used: event?.chargedMicro, held: 0 });
    await test.close();
  });

  it("while its stock is being reserved costs nothing, and no call is made", async () => {
    const books = ledger();
    const gate = createGate();
    const slow = {
      ...books,
      reserve: async (...call: Parameters<typeof books.reserve>) => {
        await gate.pass();
        return books.reserve(...call);
      },
    };
    const test = await startTestGateway({ ledger: slow });
    const { leaving, request } = leavingRequest({});
    const response = test.gateway.handler(request);
    while (gate.waiting === 0) await new Promise((resolve) => setImmediate(resolve));
    leaving.abort();
    gate.open();
    expect((await response).status).toBe(499);
    expect(await stock(books)).toEqual({ used: 0, held: 0 });
    expect(test.upstream.requests).toHaveLength(0);
    await test.close();
  });
});

describe("a provider of one's own that misbehaves", () => {
  const bytes = (text: string) =>
    (async function* () {
      yield Buffer.from(text);
    })();
  const failing = {
    [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(new Error("secret broke")) }),
  } as AsyncIterable<Uint8Array>;

  it.each<[string, () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("secret");
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret"))],
    ["rejects with nothing", () => Promise.reject(undefined)],
    ["answers with nothing", async () => undefined],
    ["answers without a body", async () => ({ status: 200, headers: {} })],
    ["answers without headers", async () => ({ status: 200, body: bytes("{}") })],
    ["has a body that fails", async () => ({ status: 200, headers: {}, body: failing })],
    ["answers an error with a body that fails", async () => ({ status: 500, headers: {}, body: failing })],
  ])("%s: a 502 that tells nothing and costs nothing", async (_name, call) => {
    const books = ledger();
    const test = await startTestGateway({ ledger: books, providers: { fake: { call } as UpstreamProvider } });
    for (const stream of [false, true]) {
      const response = await test.gateway.handler(chatRequest({ stream }));
      const text = await response.text();
      expect([response.status, text]).toEqual([502, expect.stringContaining("bad_gateway")]);
      expect(text).not.toContain("secret");
    }
    expect(await stock(books)).toEqual({ used: 0, held: 0 });
    await test.close();
  });
});
