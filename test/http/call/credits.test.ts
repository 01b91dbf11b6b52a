import { describe, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { chatAnswer, createGate, eventStream, wholeAnswer } from "../../../src/testing.js";
import { chatRequest, getRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

/** Monday noon. */
const monday = Date.UTC(2026, 0, 5, 12);
const hour = 3_600_000;

/** One credit a call: 10 tokens at 1 micro-credit, and 99,999 at 10. */
const oneCredit = chatAnswer({ usage: { prompt_tokens: 10, completion_tokens: 99_999, total_tokens: 100_009 } });

async function start(credits: { session?: number; week?: number; month?: number }, anchor?: number) {
  let now = monday;
  const clock = { now: () => now };
  const test = await startTestGateway({
    clock,
    keys: memoryKeyStore([{ key: "sk-pro", account: "acct", plan: "p", anchor: anchor ?? null }]),
    plans: memoryPlanStore({ p: { models: ["*"], credits } }),
  });
  test.upstream.reply(wholeAnswer(oneCredit));
  return {
    ...test,
    call: (body: Record<string, unknown> = {}) => test.gateway.handler(chatRequest(body)),
    advance: (milliseconds: number) => {
      now += milliseconds;
    },
  };
}

async function errorOf(response: Response) {
  return ((await response.json()) as { error: { code: string; type: string; message: string } }).error;
}

describe("a stock that is used up", () => {
  it("refuses with the truth about the window, before any upstream call", async () => {
    const test = await start({ session: 2, week: 500 });
    await test.call();
    await test.call();
    test.advance(48 * 60_000 + 1);
    const response = await test.call();
    expect(response.status).toBe(429);
    // The session began at noon and lasts five hours: 4 h 11 min 59.999 s are left.
    expect(Object.fromEntries(response.headers)).toMatchObject({
      "retry-after": String(4 * 3600 + 12 * 60),
      "x-ratelimit-reset": String((monday + 5 * hour) / 1000),
      "x-ratelimit-reset-session": String((monday + 5 * hour) / 1000),
      "x-should-retry": "false",
      "x-ratelimit-limit-session": "2",
      "x-ratelimit-remaining-session": "0",
      "x-ratelimit-remaining-week": "498",
    });
    expect(await errorOf(response)).toEqual({
      message: "Session usage quota exhausted: 2 of 2 credits used. It will reset at 2026-01-05T17:00:00Z (in 4h 12m).",
      type: "insufficient_quota",
      code: "session_limit_exceeded",
      param: null,
    });
    expect(test.upstream.requests).toHaveLength(2);
    expect(test.events.at(-1)).toMatchObject({ status: 429, errorCode: "session_limit_exceeded", chargedMicro: 0 });
    await test.close();
  });

  it("comes back when it said it would", async () => {
    const test = await start({ session: 1 });
    await test.call();
    test.advance(1234);
    const wait = Number((await test.call()).headers.get("retry-after"));
    test.advance(wait * 1000 - 1000);
    expect((await test.call()).status).toBe(429);
    test.advance(1000);
    expect((await test.call()).status).toBe(200);
    await test.close();
  });

  it.each([
    [{ session: 1, week: 1 }, "week_limit_exceeded", Date.UTC(2026, 0, 12)],
    [{ session: 1, week: 1, month: 1 }, "month_limit_exceeded", Date.UTC(2026, 1, 1)],
    [{ session: 1, month: 1 }, "month_limit_exceeded", Date.UTC(2026, 1, 1)],
    [{ week: 1 }, "week_limit_exceeded", Date.UTC(2026, 0, 12)],
  ])("of %j reports the window that is available last", async (credits, code, reset) => {
    const test = await start(credits);
    await test.call();
    const response = await test.call();
    expect((await errorOf(response)).code).toBe(code);
    expect(response.headers.get("x-ratelimit-reset")).toBe(String(reset / 1000));
    expect(response.headers.get("retry-after")).toBe(String((reset - monday) / 1000));
    await test.close();
  });

  it("counts weeks and months from the account's anchor", async () => {
    const anchor = Date.UTC(2025, 11, 31, 6);
    const test = await start({ week: 1 }, anchor);
    await test.call();
    expect((await test.call()).headers.get("x-ratelimit-reset")).toBe(String(Date.UTC(2026, 0, 7, 6) / 1000));
    await test.close();
  });

  it("does not stop a model that is free, which opens no session", async () => {
    const test = await start({ session: 1 });
    const free = await test.call({ model: "acme/free" });
    expect([free.status, free.headers.get("x-ratelimit-limit-session")]).toEqual([200, null]);
    await test.call();
    expect((await test.call()).status).toBe(429);
    expect((await test.call({ model: "acme/free" })).status).toBe(200);
    await test.close();
  });

  it("is never said to have less than nothing, after a correction that takes more than there is", async () => {
    const test = await start({ month: 1 });
    await test.gateway.accounts.grant("acct", { id: "correction", window: "month", amountMicro: -1_500_000 });
    const response = await test.call();
    expect(response.headers.get("x-ratelimit-limit-month")).toBe("0");
    expect((await errorOf(response)).message).toMatch(/^Month usage quota exhausted: 0 of 0 credits used\. /);
    await test.close();
  });

  it("of zero refuses from the start", async () => {
    const test = await start({ session: 0 });
    const response = await test.call();
    expect(response.status).toBe(429);
    expect(test.upstream.requests).toHaveLength(0);
    await test.close();
  });
});

describe("stock that is held", () => {
  it("refuses for seconds only, and lets clients retry", async () => {
    const test = await start({ session: 1 });
    const gate = createGate();
    test.upstream.reply(wholeAnswer(oneCredit, { gate }));
    const inFlight = [1, 2, 3].map(() => test.call({ max_tokens: 1000, n: 25 }));
    for (let call = 0; call < 2; call++) await test.upstream.nextRequest();
    const refused = await Promise.race(inFlight);
    expect(refused.status).toBe(429);
    expect(Number(refused.headers.get("retry-after"))).toBeLessThanOrEqual(5);
    expect(refused.headers.get("x-should-retry")).toBeNull();
    expect(refused.headers.get("x-ratelimit-remaining-session")).toBe("1");
    const error = await errorOf(refused);
    expect(error.code).toBe("session_limit_exceeded");
    expect(error.message).not.toMatch(/usage quota|will reset at/);
    gate.open();
    expect((await Promise.all(inFlight)).map(({ status }) => status).sort()).toEqual([200, 200, 429]);
    await test.close();
  });

  it("is given back when the call fails", async () => {
    const test = await start({ session: 1 });
    test.upstream.reply(wholeAnswer("", { status: 500 }));
    for (let call = 0; call < 5; call++) expect((await test.call({ n: 100, max_tokens: 1000 })).status).toBe(502);
    test.upstream.reply(wholeAnswer(oneCredit));
    expect((await test.call()).status).toBe(200);
    await test.close();
  });
});

describe("headers", () => {
  it("of a whole answer include its own charge, those of a stream do not", async () => {
    const test = await start({ session: 10 });
    expect((await test.call()).headers.get("x-ratelimit-remaining-session")).toBe("9");
    test.upstream.reply(
      eventStream([{ ...oneCredit, choices: [{ index: 0, delta: { content: "x" }, finish_reason: "stop" }] }]),
    );
    const stream = await test.call({ stream: true });
    expect(stream.headers.get("x-ratelimit-remaining-session")).toBe("9");
    await stream.text();
    expect((await test.call({ model: "acme/none" })).headers.get("x-ratelimit-remaining-session")).toBeNull();
    test.upstream.reply(wholeAnswer(oneCredit));
    expect((await test.call()).headers.get("x-ratelimit-remaining-session")).toBe("7");
    await test.close();
  });

  it("round instants up, so that nobody comes too early", async () => {
    const test = await start({ session: 10 });
    test.advance(1);
    expect((await test.call()).headers.get("x-ratelimit-reset-session")).toBe(String((monday + 5 * hour) / 1000 + 1));
    await test.close();
  });

  it("leave out windows that are not limited", async () => {
    const test = await start({ week: 10 });
    const names = [...(await test.call()).headers.keys()].filter((name) => name.startsWith("x-ratelimit"));
    expect(names.sort()).toEqual(["x-ratelimit-limit-week", "x-ratelimit-remaining-week", "x-ratelimit-reset-week"]);
    await test.close();
  });
});

describe("1,000 parallel calls on a stock for 100", () => {
  it("overspend it by less than one call, and the ledger equals the sum of the events", async () => {
    const ledger = memoryCreditLedger();
    const test = await startTestGateway({
      ledger,
      models: [{ ...smallModel, price: { input: 0, output: 1000 }, maxOutputTokens: 1000 }],
      keys: memoryKeyStore([{ key: "sk-pro", account: "acct", plan: "p" }]),
      plans: memoryPlanStore({ p: { models: ["*"], credits: { session: 100 } } }),
    });
    const usage = { prompt_tokens: 1, completion_tokens: 999, total_tokens: 1000 };
    test.upstream.reply(wholeAnswer(chatAnswer({ usage })));
    const statuses: number[] = [];
    const calls = Array.from({ length: 1000 }, async (_, index) => {
      const response = await test.gateway.handler(chatRequest({ max_tokens: 1000, stream: index % 2 === 0 }));
      await response.text();
      statuses.push(response.status);
    });
    await Promise.all(calls);
    const charged = test.events.reduce((sum, event) => sum + event.chargedMicro, 0);
    const limits = windowLimits({
      credits: { session: 100e6, week: null, month: null },
      sessionMs: 5 * hour,
      now: Date.now(),
    });
    const { windows } = await ledger.balance("acct", limits);
    expect(windows.session).toMatchObject({ usedMicro: charged, heldMicro: 0 });
    expect(windows.month.usedMicro).toBe(charged);
    expect(charged).toBeLessThan(100e6 + 1e6);
    expect(statuses.filter((status) => status === 200)).toHaveLength(charged / 999_000);
    expect(new Set(statuses)).toEqual(new Set([200, 429]));
    expect(test.events).toHaveLength(1000);
    await test.close();
  });
});

describe("reads", () => {
  it("open no session", async () => {
    const test = await start({ session: 5 });
    await test.gateway.handler(getRequest("/v1/models"));
    test.advance(hour);
    const response = await test.call();
    expect(response.headers.get("x-ratelimit-reset-session")).toBe(String((monday + 6 * hour) / 1000));
    await test.close();
  });
});
