import { afterEach, describe, expect, it } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { createGate, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, getRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const monday = Date.UTC(2026, 0, 5, 12);
const clock = { now: () => monday };

let test: TestGateway;
afterEach(() => test.close());

async function start(options: Partial<GatewayOptions> = {}) {
  test = await startTestGateway({ clock, ...options });
}

const read = (key = "sk-pro", method = "GET") => test.gateway.handler(getRequest("/v1/usage", key, method));

describe("GET /v1/usage", () => {
  it("counts what is held apart from what is used", async () => {
    await start();
    const gate = createGate();
    test.upstream.reply(wholeAnswer(undefined, { gate }));
    const call = test.gateway.handler(chatRequest({ max_tokens: 1000, n: 2 }));
    await test.upstream.nextRequest();
    const body = (await (await read()).json()) as { windows: { session: { held: number } } };
    const { held } = body.windows.session;
    expect(held).toBeGreaterThan(0.02);
    const stock = { used: 0, held };
    expect(body).toEqual({
      object: "usage",
      plan: "pro",
      windows: {
        session: { ...stock, limit: 100, remaining: 100, resets_at: (monday + 5 * 3_600_000) / 1000 },
        week: { ...stock, limit: 500, remaining: 500, resets_at: Date.UTC(2026, 0, 12) / 1000 },
        month: { ...stock, limit: 1500, remaining: 1500, resets_at: Date.UTC(2026, 1, 1) / 1000 },
      },
    });
    gate.open();
    await call;
  });

  it("has no limit where the plan has none, and none left where there is no plan", async () => {
    const keys = memoryKeyStore([
      { key: "sk-basic", account: "a", plan: "basic" },
      { key: "sk-lost", account: "b", plan: "lost" },
    ]);
    await start({ keys, plans: memoryPlanStore({ basic: { models: ["acme/small"], credits: { week: 7 } } }) });
    expect(await (await read("sk-basic")).json()).toMatchObject({
      windows: {
        session: { limit: null, used: 0, held: 0, remaining: null },
        week: { limit: 7, remaining: 7 },
        month: { limit: null, remaining: null },
      },
    });
    expect(await (await read("sk-lost")).json()).toMatchObject({
      plan: "lost",
      windows: { session: { limit: 0, remaining: 0 }, week: { limit: 0 }, month: { limit: 0 } },
    });
  });

  it("is answered as the other paths are", async () => {
    await start({ cors: true });
    const response = await read();
    expect([response.status, Object.fromEntries(response.headers)]).toMatchObject([
      200,
      {
        "content-type": "application/json",
        "cache-control": "no-store",
        "x-request-id": expect.stringMatching(/^req_/),
        "access-control-allow-origin": "*",
      },
    ]);
    expect([...response.headers.keys()].filter((name) => name.includes("ratelimit"))).toEqual([]);
    const head = await read("sk-pro", "HEAD");
    expect([head.status, await head.text()]).toEqual([200, ""]);
    const refused = await read("sk-pro", "POST");
    expect([refused.status, refused.headers.get("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect((await read("sk-none")).status).toBe(401);
    expect(test.gateway.serves("/v1/usage/")).toBe(true);
    expect(test.events[0]).toMatchObject({ endpoint: "usage", status: 200, chargedMicro: 0, account: "acct_pro" });
  });

  it("is a 503 while the ledger fails, which the host is told of", async () => {
    const cause = new Error("redis://secret@host is down");
    await start({ ledger: { ...memoryCreditLedger({ clock }), balance: () => Promise.reject(cause) } });
    const response = await read();
    expect([response.status, response.headers.get("retry-after")]).toEqual([503, "5"]);
    expect(await response.text()).not.toContain("secret");
    expect(test.warnings).toMatchObject([{ code: "ledger_failed", cause: { cause } }]);
  });
});
