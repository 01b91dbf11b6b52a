import { describe, expect, it } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import type { KeptResponse, ResponseStore } from "../../../../src/responses/response-store.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryResponseStore } from "../../../../src/stores/memory/memory-response-store.js";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatAnswer, createGate, wholeAnswer } from "../../../../src/testing.js";
import { smallModel, startTestGateway } from "../../../support/test-gateway.js";

const text = "x".repeat(100_000);

function kept(id: string, account = "acct_pro", previousResponseId?: string): KeptResponse {
  const item = { id: `msg_${id}`, json: JSON.stringify({ id: `msg_${id}`, role: "user", content: text }) };
  return { id, account, createdAt: 1, previousResponseId, response: "{}", input: [item], output: [] };
}

/** A store that notes what is asked of it. */
function watched() {
  const store = memoryResponseStore();
  const asked: string[] = [];
  const noted = Object.entries(store).map(([name, method]) => [
    name,
    (...args: unknown[]) => {
      asked.push(name);
      return (method as (...args: unknown[]) => unknown)(...args);
    },
  ]);
  return { store, asked, responses: Object.fromEntries(noted) as ResponseStore };
}

async function start(options: Partial<GatewayOptions> = {}) {
  const { store, asked, responses } = watched();
  const test = await startTestGateway({ responses, ...options });
  for (const account of ["acct_pro", "acct_basic"]) {
    await store.put(kept("resp_1", account));
    await store.put(kept("resp_2", account, "resp_1"));
  }
  const post = async (body: object, key = "sk-pro") => {
    const response = await test.gateway.handler(
      new Request("http://gateway.test/v1/responses", {
        method: "POST",
        headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
        body: JSON.stringify({ model: "acme/small", ...body }),
      }),
    );
    const said = (await response.json()) as { error?: { code: string; type: string; param: string | null } };
    return { status: response.status, ...said.error };
  };
  return { ...test, asked, post };
}

const goesOn = { input: "More", previous_response_id: "resp_2" };
const refers = { input: [{ type: "item_reference", id: "msg_resp_1" }] };
const loads = ["findChain", "findItems"];

/** As a ledger whose calls in progress give back the last credits just when the balance was read. */
function freedInTime() {
  const ledger = memoryCreditLedger();
  const balance: typeof ledger.balance = async (...asked) => {
    const left = await ledger.balance(...asked);
    const { session } = left.windows;
    return { ...left, windows: { ...left.windows, session: { ...session, heldMicro: session.limitMicro ?? 0 } } };
  };
  return { ledger, beside: { ...ledger, balance } };
}

describe.each([
  ["costs what it loads", smallModel.price],
  ["costs the same whatever it loads", { input: 0, output: 10 }],
])("a request whose account gets credits back before they are held, and that %s", (_name, price) => {
  it("is held for and charged", async () => {
    const { ledger, beside } = freedInTime();
    const test = await start({ ledger: beside, models: [{ ...smallModel, price }] });
    expect(await test.post(goesOn)).toMatchObject({ status: 200 });
    const [event] = test.events;
    expect(event?.chargedMicro).toBeGreaterThan(0);
    const credits = { session: null, week: null, month: null };
    const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
    expect((await ledger.balance("acct_pro", limits)).windows.session).toMatchObject({
      usedMicro: event?.chargedMicro,
      heldMicro: 0,
    });
    await test.close();
  });
});

describe.each([
  ["a previous response", goesOn],
  ["an item", refers],
])("a request that refers to %s", (_name, body) => {
  it("loads nothing for a model that does not exist, or that its key may not use", async () => {
    const { post, asked, close } = await start();
    expect(await post({ ...body, model: "acme/none" })).toMatchObject({ status: 404, code: "model_not_found" });
    expect(await post({ ...body, model: "acme/large" }, "sk-basic")).toMatchObject({ status: 403 });
    expect(await post({ ...body, max_output_tokens: 0 })).toMatchObject({ status: 400, param: "max_output_tokens" });
    expect(asked).toEqual([]);
    await close();
  });

  it("loads nothing for an account without credits", async () => {
    const plans = memoryPlanStore({
      pro: { models: ["acme/*"], credits: { session: 0, week: 500, month: 500 } },
      basic: { models: ["acme/small"] },
    });
    const { post, asked, close } = await start({ plans });
    expect(await post(body)).toMatchObject({ status: 429, type: "insufficient_quota" });
    expect(asked).toEqual([]);
    // A model that is free needs none.
    expect(await post({ ...body, model: "acme/free" })).toMatchObject({ status: 200 });
    await close();
  });

  it("counts what it causes among the bodies that wait, before that is loaded", async () => {
    const gate = createGate();
    const { post, asked, upstream, close } = await start({ maxBodyBytes: 250_000, maxPendingBodyBytes: 1_000_000 });
    upstream.reply(async (request, response) => {
      await gate.pass();
      await wholeAnswer(chatAnswer())(request, response);
    });
    // Nothing limits this account's credits, so that its bodies count till their calls end.
    const first = post({ ...body, store: false }, "sk-basic");
    await upstream.nextRequest();
    const others = [await fill(post, body), await fill(post, body)];
    const before = asked.filter((name) => loads.includes(name)).length;
    expect(others).toContainEqual(
      expect.objectContaining({ status: 429, code: "rate_limit_exceeded", type: "requests" }),
    );
    expect(asked.filter((name) => loads.includes(name))).toHaveLength(before);
    gate.open();
    expect((await first).status).toBe(200);
    expect((await post({ ...body, store: false }, "sk-basic")).status).toBe(200);
    await close();
  });

  it("gives its room back where it is refused", async () => {
    const { post, close } = await start({ maxBodyBytes: 250_000, maxPendingBodyBytes: 1_000_000 });
    const broken = {
      ...body,
      input: [...(Array.isArray(body.input) ? body.input : []), { type: "item_reference", id: "msg_0" }],
    };
    for (let count = 0; count < 10; count++) {
      expect(await post(broken, "sk-basic")).toMatchObject({ status: 400, code: "item_not_found" });
    }
    expect((await post(body, "sk-basic")).status).toBe(200);
    await close();
  });
});

/** Another request, of which its answer is not waited for unless it is refused. */
async function fill(post: (body: object, key: string) => Promise<{ status: number }>, body: object) {
  const answered = post({ ...body, store: false }, "sk-basic");
  const turns = async () => {
    for (let turn = 0; turn < 200; turn++) await new Promise((resolve) => setImmediate(resolve));
    return { status: 0 };
  };
  return await Promise.race([answered, turns()]);
}

it("references to one large item count as often as there are", async () => {
  const { post, asked, close } = await start({ maxBodyBytes: 250_000 });
  const input = new Array(3).fill({ type: "item_reference", id: "msg_resp_1" });
  expect(await post({ input })).toMatchObject({ status: 400, param: "input" });
  expect(asked).toEqual(["measureItems"]);
  await close();
});

it("a conversation that could never have room is refused, and not to be repeated", async () => {
  const { post, asked, close } = await start({ maxBodyBytes: 100_000, maxPendingBodyBytes: 100_000 });
  expect(await post(goesOn)).toMatchObject({ status: 400, param: "previous_response_id" });
  expect(asked).toEqual(["measureChain"]);
  await close();
});
