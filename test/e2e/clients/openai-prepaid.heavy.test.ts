import OpenAI from "openai";
import { afterAll, afterEach, describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { chatAnswer, chatChunks, createGate, eventStream, wholeAnswer } from "../../../src/testing.js";
import { smallModel } from "../../support/test-gateway.js";
import { type ClientServer, expectNoSockets, startServer } from "./start-server.js";

/** Monday noon. */
const monday = Date.UTC(2026, 0, 5, 12);
const hour = 3_600_000;
const request = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }], max_tokens: 10 };
/** One credit a call: 10 tokens at 1 micro-credit, and 99,999 at 10. */
const usage = { prompt_tokens: 10, completion_tokens: 99_999, total_tokens: 100_009 };

let server: ClientServer;
afterEach(() => server.close());
afterAll(expectNoSockets);

async function start(session: number, model: Partial<Model> = {}) {
  const clock = new ManualClock(monday);
  const ledger = memoryCreditLedger({ clock });
  server = await startServer({
    clock,
    ledger,
    models: [{ ...smallModel, ...model }],
    keys: memoryKeyStore([{ key: "sk-pro", id: "key_1", account: "acct", plan: "p" }]),
    plans: memoryPlanStore({ p: { models: ["*"], credits: { session } } }),
  });
  server.upstream.reply(wholeAnswer(chatAnswer({ usage })));
  const { gateway } = server;
  const client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro", maxRetries: 0 });
  return {
    clock,
    gateway,
    client,
    call: () => client.chat.completions.create(request).withResponse(),
    denial: async () => {
      const error = await client.chat.completions.create(request).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!(error instanceof OpenAI.RateLimitError)) throw new Error("The call was not denied.");
      return error;
    },
    usage: async () => {
      const response = await fetch(`${server.baseURL}/usage`, { headers: { authorization: "Bearer sk-pro" } });
      return (await response.json()) as { prepaid?: unknown; windows: { session: { used: number } } };
    },
  };
}

describe("prepaid credits", () => {
  it("pay after the plan, until they are used up, and again after a top-up", async () => {
    const { gateway, call, denial, usage, clock } = await start(1);
    expect(await usage()).not.toHaveProperty("prepaid");
    const topUp = { id: "pay_1", credits: 1.5, expiresAt: new Date(monday + hour * 24), note: "card" };
    expect(await gateway.accounts.topUp("acct", topUp)).toEqual({
      balanceMicro: 1_500_000,
      overdrawnMicro: 0,
      heldMicro: 0,
      lots: [{ expiresAt: monday + hour * 24, leftMicro: 1_500_000 }],
    });
    // The same id tops up once.
    await gateway.accounts.topUp("acct", topUp);

    const ofPlan = await call();
    expect(ofPlan.response.headers.get("x-ratelimit-remaining-prepaid")).toBe("1");
    expect(ofPlan.response.headers.get("x-ratelimit-remaining-session")).toBe("0");
    expect(server.events.at(-1)).toMatchObject({ funding: "plan", remaining: { session: 0, prepaid: 1_500_000 } });

    const first = await call();
    expect(first.response.headers.get("x-ratelimit-remaining-prepaid")).toBe("0");
    expect(server.events.at(-1)).toMatchObject({
      funding: "prepaid",
      chargedMicro: 1_000_000,
      remaining: { session: 0, prepaid: 500_000 },
    });
    expect(await usage()).toMatchObject({
      windows: { session: { used: 1 } },
      prepaid: { remaining: 0.5, held: 0, expires_at: (monday + hour * 24) / 1000 },
    });
    await call();
    expect((await gateway.accounts.balance("acct")).prepaid).toEqual({
      balanceMicro: -500_000,
      overdrawnMicro: 500_000,
      heldMicro: 0,
      lots: [],
    });
    expect(await usage()).toMatchObject({ prepaid: { remaining: 0, held: 0, overdrawn: 0.5, expires_at: null } });

    const denied = await denial();
    expect(denied).toMatchObject({ code: "session_limit_exceeded", type: "insufficient_quota" });
    expect(denied.message).toMatch(/Session usage quota exhausted: .* Prepaid credits are used up, too\.$/);
    expect(denied.headers?.get("x-ratelimit-remaining-prepaid")).toBe("0");

    await gateway.accounts.topUp("acct", { id: "pay_2", creditsMicro: 600_000 });
    expect((await gateway.accounts.balance("acct")).prepaid?.balanceMicro).toBe(100_000);
    await call();

    // A new session is the plan's again.
    clock.advance(5 * hour);
    await gateway.accounts.topUp("acct", { id: "pay_3", credits: 5 });
    await call();
    expect(server.events.at(-1)).toMatchObject({ funding: "plan", remaining: { session: 0 } });

    const entries = (await gateway.accounts.history("acct")).entries;
    const charges = entries.filter(({ kind }) => kind === "charge");
    expect(charges.map(({ starts, amountMicro }) => [Object.keys(starts).length, amountMicro])).toEqual(
      [3, 0, 0, 0, 3].map((windows) => [windows, 1_000_000]),
    );
    const prepaid = entries.filter(({ starts }) => Object.keys(starts).length === 0);
    const sum = prepaid.reduce((all, { kind, amountMicro }) => all + (kind === "charge" ? -1 : 1) * amountMicro, 0);
    expect((await gateway.accounts.balance("acct")).prepaid?.balanceMicro).toBe(sum);
    expect(await gateway.accounts.usage("acct", { by: ["funding", "model"] })).toMatchObject([
      { by: { funding: "plan", model: "acme/small" }, requests: 2, chargedMicro: 2_000_000 },
      { by: { funding: "prepaid", model: "acme/small" }, requests: 3, chargedMicro: 3_000_000 },
    ]);
    expect((await gateway.accounts.usage("acct"))[0]).toMatchObject({ requests: 5, chargedMicro: 5_000_000 });
  });

  it("show 0 where a call takes the last of them to the micro-credit", async () => {
    const { gateway, call, denial } = await start(0);
    await gateway.accounts.topUp("acct", { id: "pay_1", credits: 1 });
    const { response } = await call();
    expect(response.headers.get("x-ratelimit-remaining-prepaid")).toBe("0");
    expect(server.events.at(-1)).toMatchObject({ remaining: { prepaid: 0 } });
    const denied = await denial();
    expect([denied.code, denied.headers?.get("retry-after")]).toEqual(["insufficient_quota", null]);
  });

  it("are all that a plan without credits can use: the denial names no reset", async () => {
    const { denial, gateway, call } = await start(0);
    expect((await denial()).code).toBe("session_limit_exceeded");
    await gateway.accounts.topUp("acct", { id: "pay_0", creditsMicro: 500_000 });
    await call();
    const denied = await denial();
    expect(denied).toMatchObject({ code: "insufficient_quota", type: "insufficient_quota" });
    expect(denied.message).toContain("No prepaid credits are left");
    expect(denied.headers?.get("x-should-retry")).toBe("false");
    expect(denied.headers?.get("retry-after")).toBeNull();
    expect(denied.headers?.get("x-ratelimit-reset")).toBeNull();
    await gateway.accounts.topUp("acct", { id: "pay_1", credits: 1 });
    expect((await call()).response.status).toBe(200);
  });

  it("name no reset of a session that an earlier plan has left open, for that brings none", async () => {
    const { denial, gateway, call } = await start(1);
    await gateway.accounts.topUp("acct", { id: "pay_1", creditsMicro: 500_000 });
    const first = await call();
    expect(first.response.headers.get("x-ratelimit-reset")).not.toBeNull();
    await gateway.plans.put({ id: "p", models: ["*"], credits: { session: 100, month: 0 } });
    await gateway.accounts.deduct("acct", { id: "refund_1", creditsMicro: 500_000 });
    const denied = await denial();
    expect(denied.code).toBe("insufficient_quota");
    expect(denied.headers?.get("x-ratelimit-reset")).toBeNull();
  });

  it("that calls in progress hold are worth another try", async () => {
    const { denial, gateway, client } = await start(0);
    await gateway.accounts.topUp("acct", { id: "pay_1", creditsMicro: 10 });
    const gate = createGate();
    server.upstream.reply(wholeAnswer(chatAnswer({ usage }), { gate }));
    const open = client.chat.completions.create(request).withResponse();
    await server.upstream.nextRequest();
    const denied = await denial();
    expect(denied.message).toContain("Prepaid credits are held by requests in flight");
    // LangChain does not retry after the code `insufficient_quota`, and Codex not after the type.
    expect(denied).toMatchObject({ code: "session_limit_exceeded", type: "requests" });
    expect(denied.headers?.get("retry-after")).toBe("5");
    expect(denied.headers?.get("x-should-retry")).toBeNull();
    gate.open();
    await open;
    expect((await denial()).message).toContain("No prepaid credits are left");
  });

  it("are not charged for a stream that they held for, once the plan has room again", async () => {
    const { gateway, call, client, clock, denial } = await start(1);
    await call();
    await gateway.accounts.topUp("acct", { id: "pay_1", credits: 3, expiresAt: monday + 1000 });
    const gate = createGate();
    server.upstream.reply(eventStream(chatChunks("Hello wide world", { usage }), { gate }));
    gate.step(2);
    const { data, response } = await client.chat.completions.create({ ...request, stream: true }).withResponse();
    expect(response.headers.get("x-ratelimit-remaining-prepaid")).toBe("3");
    await gateway.accounts.reset("acct");
    clock.advance(1000);
    const ended = server.nextEvent();
    gate.open();
    for await (const _ of data) void _;
    const event = await ended;
    expect(event).toMatchObject({ funding: "plan", chargedMicro: 1_000_000, remaining: { session: 0, prepaid: 0 } });
    expect((await denial()).code).toBe("session_limit_exceeded");
    // They have expired meanwhile, and lapse with the next operation that writes.
    await gateway.accounts.reset("acct");
    const entries = (await gateway.accounts.history("acct")).entries;
    expect(entries.find(({ kind }) => kind === "expiry")?.amountMicro).toBe(-3_000_000);
  });

  it("are overdrawn by less than one of a thousand calls at once", async () => {
    const { gateway, client } = await start(0, { price: { input: 1, output: 100 } });
    await gateway.accounts.topUp("acct", { id: "pay_1", credits: 10 });
    const usage = { prompt_tokens: 1, completion_tokens: 1000, total_tokens: 1001 };
    server.upstream.reply(wholeAnswer(chatAnswer({ usage })));
    const calls = Array.from({ length: 1000 }, () =>
      client.chat.completions.create({ ...request, max_tokens: 1000 }).then(
        () => 1,
        () => 0,
      ),
    );
    const admitted = (await Promise.all(calls)).reduce((sum: number, one) => sum + one, 0);
    const charged = server.events.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0);
    expect(charged).toBe(admitted * 100_001);
    expect(charged).toBeLessThan(10_000_000 + 100_001);
    const left = (await gateway.accounts.balance("acct")).prepaid?.balanceMicro ?? 0;
    expect(left).toBe(10_000_000 - charged);
    // What is left admits the calls one after the other.
    for (let more = left; more > 0; more -= 100_001) await client.chat.completions.create(request);
    await expect(client.chat.completions.create(request)).rejects.toMatchObject({ code: "insufficient_quota" });
  });
});
