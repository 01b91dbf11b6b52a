import { describe, expect, it } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { createGate, startFakeUpstream } from "../../../../src/testing.js";
import { bothServers, honest, nativeServer } from "../../../support/operations/responses/response-samples.js";
import { refusalOf, requestText, withResponses } from "../../../support/operations/responses/responses-server.js";
import { chatModels, embeddingModel, smallModel, startTestGateway } from "../../../support/test-gateway.js";

const tool = { type: "function", name: "weather", parameters: { type: "object" } };
const image = { type: "input_image", image_url: "data:image/png;base64,AAAA", detail: "low" };
const ofModel = (model: Partial<Model>): Partial<GatewayOptions> => ({ models: [{ ...smallModel, ...model }] });

describe.each(bothServers)("before $name is called", (target) => {
  it.each<[string, Record<string, unknown> | string, { key?: string; headers?: Record<string, string> }, object]>([
    ["no key", {}, { headers: { authorization: "" } }, { status: 401, type: "invalid_request_error" }],
    ["a wrong key", {}, { key: "sk-wrong" }, { status: 401, code: "invalid_api_key" }],
    [
      "an unknown model, for a key that may use little",
      { model: "acme/none" },
      { key: "sk-basic" },
      { status: 404, code: "model_not_found" },
    ],
    ["a model outside the plan", { model: "acme/large" }, { key: "sk-basic" }, { status: 403 }],
    ["a model outside the key", { model: "acme/large" }, { key: "sk-narrow" }, { status: 403 }],
    ["a model of type embedding", { model: "acme/embed" }, {}, { status: 400, param: "model" }],
    ["no model", '{"input":"x"}', {}, { status: 400, param: "model" }],
    ["no input", { input: undefined }, {}, { status: 400, param: "input" }],
    ["no JSON", "{]", {}, { status: 400 }],
    ["a body of another type", {}, { headers: { "content-type": "text/plain" } }, { status: 415 }],
    ["a compressed body", {}, { headers: { "content-encoding": "gzip" } }, { status: 415 }],
    ["an input of a wrong type", { input: 7 }, {}, { status: 400, param: "input" }],
    ["an empty input", { input: [] }, {}, { status: 400, param: "input", code: "empty_array" }],
    ["a role that is none", { input: [{ role: "tool", content: "x" }] }, {}, { status: 400, param: "input[0].role" }],
    [
      "an output of no call",
      { input: [{ type: "function_call_output", output: "x" }] },
      {},
      { status: 400, param: "input[0].call_id" },
    ],
    ["a cap of none", { max_output_tokens: 0 }, {}, { status: 400, param: "max_output_tokens" }],
    ["a chat's messages", { messages: [] }, {}, { status: 400, param: "messages" }],
    ["a chat's cap", { max_tokens: 5 }, {}, { status: 400, param: "max_tokens" }],
    ["a response to be fetched later", { background: true }, {}, { status: 400, param: "background" }],
    ["a conversation", { conversation: "conv_1" }, {}, { status: 400, param: "conversation" }],
    ["a template of the upstream's account", { prompt: { id: "p" } }, {}, { status: 400, param: "prompt" }],
    [
      "a response that nobody keeps",
      { previous_response_id: "resp_1" },
      {},
      { status: 400, param: "previous_response_id" },
    ],
    [
      "an item that nobody keeps",
      { input: [{ type: "item_reference", id: "msg_1" }] },
      {},
      { status: 400, param: "input[0].id", code: "item_not_found" },
    ],
    [
      "a tool that the server runs",
      { tools: [tool, { type: "code_interpreter" }] },
      {},
      { status: 400, param: "tools[1].type" },
    ],
    [
      "a prompt that is too long",
      { input: "word ".repeat(130_000) },
      {},
      { status: 400, param: "input", code: "context_length_exceeded" },
    ],
  ])("it is refused: %s", async (_name, body, init, expected) => {
    const run = withResponses(
      target,
      async (server) => {
        expect(await refusalOf(await server.post(body, init))).toMatchObject(expected);
        expect(server.upstream.requests).toHaveLength(0);
        expect(server.events).toMatchObject([{ chargedMicro: 0, attempts: [], endpoint: "responses" }]);
      },
      { models: [...chatModels, embeddingModel] },
    );
    await run();
  });

  it(
    "credits are checked",
    withResponses(
      target,
      async (server) => {
        const refusal = await refusalOf(await server.post());
        expect(refusal).toMatchObject({ status: 429, type: "insufficient_quota" });
        expect(server.upstream.requests).toHaveLength(0);
      },
      { plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { week: 0 } } }) },
    ),
  );

  it(
    "a body beyond its bound is refused",
    withResponses(
      target,
      async (server) => {
        expect(await refusalOf(await server.post({ input: "x".repeat(2000) }))).toMatchObject({ status: 413 });
        expect((await server.post({ input: "x".repeat(500) })).status).toBe(200);
        const deep = `${"[".repeat(40)}${"]".repeat(40)}`;
        expect(await refusalOf(await server.post(requestText().replace("}", `,"x":${deep}}`)))).toMatchObject({
          status: 400,
        });
      },
      { maxBodyBytes: 1000, maxBodyDepth: 32 },
    ),
  );

  it(
    "what the model cannot do is refused, with its place",
    withResponses(
      target,
      async (server) => {
        for (const [body, param] of [
          [{ tools: [tool] }, "tools[0]"],
          [{ reasoning: { effort: "high" } }, "reasoning.effort"],
          [{ input: [{ role: "user", content: [{ type: "input_text", text: "?" }, image] }] }, "input[0].content[1]"],
          [{ input: [{ type: "function_call_output", call_id: "c", output: [image] }] }, "input[0].output[0]"],
        ] as const) {
          expect(await refusalOf(await server.post(body))).toMatchObject({ status: 400, param });
        }
        expect(server.upstream.requests).toHaveLength(0);
        // A wish for a summary, and a search that is left out anyway, ask for nothing that the model lacks.
        const idle = { reasoning: { summary: "auto" }, tools: [{ type: "web_search" }] };
        expect((await server.post(idle)).status).toBe(200);
      },
      ofModel({ capabilities: { tools: false, reasoning: false, vision: false }, unsupported: "refuse" }),
    ),
  );

  it(
    "what the model cannot do is left out where it is to be",
    withResponses(
      target,
      async (server) => {
        const members = {
          tools: [tool],
          tool_choice: "auto",
          parallel_tool_calls: true,
          reasoning: { effort: "high" },
        };
        expect((await server.post(members)).status).toBe(200);
        const sent = server.upstream.lastRequest.json;
        for (const name of [...Object.keys(members), "reasoning_effort"]) expect(sent).not.toHaveProperty(name);
      },
      ofModel({ capabilities: { tools: false, reasoning: false }, unsupported: "drop" }),
    ),
  );

  it(
    "a search of the web, which some clients list in every request, is left out",
    withResponses(target, async (server) => {
      const tools = [{ type: "web_search" }, tool];
      expect((await server.post({ tools, tool_choice: { type: "web_search" } })).status).toBe(200);
      expect(server.upstream.lastRequest.json.tools).toHaveLength(1);
      expect(server.upstream.lastRequest.json.tool_choice ?? "auto").toBe("auto");
    }),
  );
});

it("holds what a response may cost at the most, for as long as it takes", async () => {
  await withResponses(nativeServer, async (server) => {
    const gate = createGate();
    const answer = nativeServer.whole();
    server.upstream.reply(async (request, response) => {
      await gate.pass();
      await answer(request, response);
    });
    const response = server.post({ max_output_tokens: 100 });
    await server.upstream.nextRequest();
    const { heldMicro = 0 } = (await server.gateway.accounts.balance("acct_pro")).windows.session;
    // Output at 20, the price of reasoning, and a prompt of a few tokens.
    expect(heldMicro).toBeGreaterThan(2000);
    expect(heldMicro).toBeLessThan(2200);
    gate.open();
    await response;
    expect((await server.gateway.accounts.balance("acct_pro")).windows.session).toMatchObject({
      heldMicro: 0,
      usedMicro: 39,
    });
  })();
});

it("a model whose server speaks neither API is a 400, which names the model", async () => {
  const upstream = await startFakeUpstream();
  const provider = openAICompatible({ baseURL: upstream.url, operations: ["embeddings"] });
  const test = await startTestGateway({ providers: { fake: provider } });
  const response = await test.gateway.handler(
    new Request("http://gateway.test/v1/responses", {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
      body: requestText(),
    }),
  );
  expect(await refusalOf(response)).toMatchObject({ status: 400, param: "model" });
  expect(test.events).toMatchObject([{ chargedMicro: 0 }]);
  expect(upstream.requests).toHaveLength(0);
  await test.close();
  await upstream.close();
});

describe("other methods", () => {
  it.each(["GET", "PUT", "DELETE"])("are none: %s", async (method) => {
    await withResponses(nativeServer, async (server) => {
      const headers = { authorization: "Bearer sk-pro" };
      const response = await fetch(`${server.baseURL}/responses`, { method, headers });
      expect(response.headers.get("allow")).toBe("POST, OPTIONS");
      expect(await refusalOf(response)).toMatchObject({ status: 405, code: "method_not_supported" });
    })();
  });
});

it("the plain and the sliced way of reading a body come to the same", async () => {
  await withResponses(nativeServer, async (server) => {
    server.upstream.reply(honest(nativeServer));
    const input = Array.from({ length: 3000 }, (_each, index) => ({
      role: "user",
      content: `${"word ".repeat(20)}${index}`,
    }));
    expect((await server.post({ input, store: false })).status).toBe(200);
    expect(server.upstream.lastRequest.json).toEqual({ model: "upstream-small", input, store: false });
    expect(await refusalOf(await server.post({ input: [...input, { role: "none", content: "" }] }))).toMatchObject({
      param: "input[3000].role",
    });
  })();
});
