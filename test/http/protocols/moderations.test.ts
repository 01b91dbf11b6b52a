import OpenAI from "openai";
import { describe, expect, it, onTestFinished } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { Dialect } from "../../../src/protocols/shared/dialect.js";
import { openAI } from "../../../src/providers/presets.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { createGate, errorBody, type FakeAnswer, startFakeUpstream, wholeAnswer } from "../../../src/testing.js";
import { textTokens } from "../../../src/tokens/text-tokens.js";
import { embeddingModel, smallModel, startTestGateway } from "../../support/test-gateway.js";

const moderationModel: Model = {
  id: "omni-moderation-latest",
  type: "moderation",
  contextLength: 32_768,
  price: { input: 0 },
  upstream: { provider: "fake", model: "omni-up" },
};

const result = (flagged: boolean) => ({
  flagged,
  categories: { violence: flagged },
  category_scores: { violence: flagged ? 0.9 : 0.1 },
  category_applied_input_types: { violence: ["text"] },
});

/** Flags what has "kill" in it, as many results as there are texts. */
const honest: FakeAnswer = (request, response) => {
  const { input, model } = request.json;
  const inputs: unknown[] = Array.isArray(input) && typeof input[0] === "string" ? input : [input];
  const results = inputs.map((each) => result(JSON.stringify(each).includes("kill")));
  return wholeAnswer({ id: "modr-1", model, results })(request, response);
};

const tokensOf = (text: string) => textTokens(Buffer.from(text)) + 2;

async function startModerations(options: Partial<GatewayOptions> = {}, dialect: Dialect = {}) {
  const server = await startFakeUpstream();
  onTestFinished(() => server.close());
  server.reply(honest);
  const ledger = memoryCreditLedger();
  const test = await startTestGateway({
    ledger,
    models: [moderationModel, smallModel, embeddingModel],
    plans: memoryPlanStore({ pro: { models: ["*"], credits: { month: 1 } } }),
    providers: { fake: openAI({ baseURL: server.url, apiKey: "sk-upstream-secret", dialect }) },
    ...options,
  });
  onTestFinished(() => test.close());
  return {
    ...test,
    server,
    ledger,
    moderate: async (body: Record<string, unknown>) => {
      const headers = { "content-type": "application/json", authorization: "Bearer sk-pro" };
      const request = new Request("http://gateway.test/v1/moderations", {
        method: "POST",
        headers,
        body: JSON.stringify(body),
      });
      const response = await test.gateway.handler(request);
      // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects
      return { status: response.status, headers: response.headers, json: (await response.json()) as any };
    },
  };
}

describe("a moderation", () => {
  it("without a model is by OpenAI's usual one, in the client's words", async () => {
    const { moderate, server, events } = await startModerations();
    const { status, json } = await moderate({ input: ["I will kill time", "hello"] });
    expect(status).toBe(200);
    expect(json).toEqual({ id: "modr-1", model: "omni-moderation-latest", results: [result(true), result(false)] });
    expect(server.lastRequest.url).toBe("/v1/moderations");
    expect(server.lastRequest.json).toEqual({ model: "omni-up", input: ["I will kill time", "hello"] });
    expect(events[0]).toMatchObject({ endpoint: "moderations", model: "omni-moderation-latest", chargedMicro: 0 });
  });

  it("without a model is a 404 that says so, where that one is not in the catalog", async () => {
    const { moderate, server, events } = await startModerations({ models: [smallModel] });
    const { status, json } = await moderate({ input: "a", model: null });
    expect({ status, error: json.error }).toMatchObject({
      status: 404,
      error: { code: "model_not_found", param: "model", message: expect.stringMatching(/names no model.*'omni-/) },
    });
    expect(server.requests).toHaveLength(0);
    expect(events[0]).toMatchObject({ requestedModel: "omni-moderation-latest", status: 404 });
  });

  it("of a free model calls no ledger, and needs no credits", async () => {
    const calls: PropertyKey[] = [];
    const ledger = new Proxy(memoryCreditLedger(), {
      get: (target, name) => {
        calls.push(name);
        return Reflect.get(target, name);
      },
    });
    const plans = memoryPlanStore({ pro: { models: ["*"], credits: { month: 0 } } });
    const { moderate } = await startModerations({ ledger, plans });
    calls.length = 0;
    expect((await moderate({ input: "a" })).status).toBe(200);
    expect(calls).toEqual([]);
  });

  it("of a free model is within the rates of its plan", async () => {
    const plans = memoryPlanStore({ pro: { models: ["*"], rates: { requestsPerMinute: 1 } } });
    const { moderate } = await startModerations({ plans });
    expect((await moderate({ input: "a" })).status).toBe(200);
    expect(await moderate({ input: "a" })).toMatchObject({ status: 429 });
  });

  it("of a plan that does not list the model is a 403", async () => {
    const plans = memoryPlanStore({ pro: { models: ["acme/*"] } });
    const { moderate } = await startModerations({ plans });
    expect(await moderate({ input: "a" })).toMatchObject({
      status: 403,
      json: { error: { code: "model_not_allowed" } },
    });
  });

  it.each([
    ["by the call", { request: 0.001 }, 1000],
    ["by the tokens of its texts", { input: 2 }, 2 * (tokensOf("one") + tokensOf("two"))],
  ])("costs what is priced %s", async (_name, price, charged) => {
    const { moderate, server, ledger, events } = await startModerations({ models: [{ ...moderationModel, price }] });
    const gate = createGate();
    server.reply(async (request, response) => {
      await gate.pass();
      await honest(request, response);
    });
    const answer = moderate({ input: ["one", "two"] });
    await server.nextRequest();
    const credits = { session: null, week: null, month: 1 };
    const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
    expect((await ledger.balance("acct_pro", limits)).windows.session.heldMicro).toBe(charged);
    gate.open();
    expect((await answer).status).toBe(200);
    expect(events[0]).toMatchObject({ chargedMicro: charged });
  });

  it("of 2,000 texts has a result for each", async () => {
    const { moderate } = await startModerations();
    const { json } = await moderate({ input: Array.from({ length: 2000 }, (_, at) => `text ${at}`) });
    expect(json.results).toHaveLength(2000);
  });

  it("of text and image together has one result; the image is held at its bound", async () => {
    const models = [{ ...moderationModel, price: { input: 1 }, contextLength: 100_000 }];
    const { moderate, server, events } = await startModerations({ models });
    const input = [
      { type: "text", text: "kill" },
      { type: "image_url", image_url: { url: "data:image/png;base64,iVBORw0KGgo=" } },
    ];
    const { status, json } = await moderate({ input });
    expect({ status, results: json.results }).toEqual({ status: 200, results: [result(true)] });
    expect(server.lastRequest.json.input).toEqual(input);
    expect(events[0]?.tokens.input).toBeGreaterThan(1000);
  });

  it.each([
    [{}, "input", "missing_required_parameter"],
    [{ input: 5 }, "input", "invalid_type"],
    [{ input: [] }, "input", "empty_array"],
    [{ input: [1, 2] }, "input[0]", "invalid_type"],
    [{ input: ["a", { type: "text", text: "b" }] }, "input[1]", "invalid_type"],
    [{ input: Array(2049).fill("a") }, "input", "array_above_max_length"],
    [{ input: [{ type: "input_file", file: "x" }] }, "input[0]", "unsupported_parameter"],
    [
      { input: [{ type: "image_url", image_url: { file_id: "file-1" } }] },
      "input[0].image_url.file_id",
      "unsupported_parameter",
    ],
    [{ input: [{ type: "text", Type: "image_url", text: "a" }] }, "input[0].Type", "invalid_value"],
    [{ input: "a", model: 5 }, "model", "invalid_type"],
    [{ input: "a", Input: "b" }, "Input", "invalid_value"],
    [{ input: "a", newest: { x: 1 } }, "newest", "unsupported_parameter"],
    [{ input: "word ".repeat(40_000) }, "input", "context_length_exceeded"],
    [{ input: "a", model: "acme/small" }, "model", "invalid_value"],
  ])("is a 400: %j", async (body, param, code) => {
    const { moderate, server } = await startModerations();
    expect(await moderate(body)).toMatchObject({ status: 400, json: { error: { param, code } } });
    expect(server.requests).toHaveLength(0);
  });

  it.each([
    ["fewer results than texts", [result(true)]],
    ["more results than texts", [result(true), result(true), result(true)]],
    ["a result that is none", [result(true), { flagged: "yes" }]],
    ["none", undefined],
  ])("goes to the next target after a response of %s", async (_name, results) => {
    const upstream = ["first", "second"].map((model) => ({ provider: "fake", model }));
    const { moderate, server, events } = await startModerations({ models: [{ ...moderationModel, upstream }] });
    server.replyOnce(wholeAnswer({ id: "modr-0", model: "first", results }));
    expect(await moderate({ input: ["a", "kill"] })).toMatchObject({ status: 200, json: { id: "modr-1" } });
    expect(events[0]?.attempts).toMatchObject([{ outcome: "upstream_failed" }, { outcome: "completed" }]);
  });

  it("with a server's usage shows what is charged, and nothing that no client gets", async () => {
    for (const [usage, shown] of [
      [undefined, undefined],
      [
        { prompt_tokens: 7, total_tokens: 7, bill: 3 },
        { prompt_tokens: 7, total_tokens: 7 },
      ],
      [
        { prompt_tokens: 0, total_tokens: 0 },
        { prompt_tokens: tokensOf("kill"), total_tokens: tokensOf("kill") },
      ],
      [
        { prompt_tokens: -7, bill: 3 },
        { prompt_tokens: tokensOf("kill"), total_tokens: tokensOf("kill") },
      ],
    ]) {
      const models = [{ ...moderationModel, price: { input: 1 } }];
      const { moderate, server, events } = await startModerations({ models }, { hiddenUsage: ["bill"] });
      server.reply(wholeAnswer({ id: "modr-1", model: "omni-up", results: [result(true)], usage }));
      expect((await moderate({ input: "kill" })).json.usage).toEqual(shown);
      expect(events[0]?.chargedMicro).toBe(shown?.prompt_tokens ?? tokensOf("kill"));
    }
  });

  it("has the upstream's error, without its name for the model", async () => {
    const { moderate, server } = await startModerations();
    server.reply(wholeAnswer(errorBody("omni-up is off."), { status: 400 }));
    const { status, json } = await moderate({ input: "a" });
    expect(status).toBe(400);
    expect(json.error.message).not.toContain("omni-up");
  });

  it("shows its texts to a hook, and no URL", async () => {
    const seen: unknown[] = [];
    const { moderate } = await startModerations({ onRequest: (call) => void seen.push(...call.texts()) });
    await moderate({ input: ["a b"] });
    await moderate({
      input: [
        { type: "text", text: "c" },
        { type: "image_url", image_url: { url: "https://images.test/a.png" } },
      ],
    });
    expect(seen).toEqual([
      { path: "input[0]", role: "user", text: "a b" },
      { path: "input[0].text", role: "user", text: "c" },
    ]);
  });

  it("reaches OpenAI's SDK, which names no model", async () => {
    const { gateway } = await startModerations();
    const client = new OpenAI({
      baseURL: "http://gateway.test/v1",
      apiKey: "sk-pro",
      maxRetries: 0,
      fetch: (url, init) => gateway.handler(new Request(url, init)),
    });
    const { results, model } = await client.moderations.create({ input: "I will kill" });
    expect(model).toBe("omni-moderation-latest");
    expect(results[0]?.flagged).toBe(true);
  });
});
