import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { vLLM } from "../../../src/providers/local-presets.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { openAI } from "../../../src/providers/presets.js";
import type { UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { chatServer, honest, nativeServer } from "../../support/operations/responses/response-samples.js";
import { requestText } from "../../support/operations/responses/responses-server.js";
import { startTestGateway } from "../../support/test-gateway.js";

let upstream: FakeUpstream;
beforeEach(async () => {
  upstream = await startFakeUpstream();
  upstream.reply((request, response) =>
    honest(request.url === nativeServer.path ? nativeServer : chatServer)(request, response),
  );
});
afterEach(() => upstream.close());

async function respond(fake: UpstreamProvider, members: Record<string, unknown> = {}): Promise<Response> {
  const test = await startTestGateway({ providers: { fake } });
  const response = await test.gateway.handler(
    new Request("http://gateway.test/v1/responses", {
      method: "POST",
      headers: { authorization: "Bearer sk-pro", "content-type": "application/json" },
      body: requestText(members),
    }),
  );
  await response.clone().text();
  await test.close();
  return response;
}

describe("the openAI preset", () => {
  it.each([false, true])(
    "has OpenAI's own Responses API called, and nothing kept there (stream: %s)",
    async (stream) => {
      const response = await respond(openAI({ baseURL: upstream.url, apiKey: "sk-key" }), {
        max_output_tokens: 5000,
        store: true,
        stream,
      });
      expect(response.status).toBe(200);
      const { method, url, headers, json } = upstream.lastRequest;
      expect(`${method} ${url} ${headers.authorization} ${headers.accept}`).toBe(
        `POST /v1/responses Bearer sk-key ${stream ? "text/event-stream" : "application/json"}`,
      );
      // A chat's cap has another name there, which this API does not know.
      expect(json).toEqual({
        model: "upstream-small",
        input: "Say hello.",
        max_output_tokens: 1000,
        store: false,
        stream,
      });
    },
  );

  it("can be kept to chat completions", async () => {
    const provider = openAI({ baseURL: upstream.url, apiKey: "sk-key", operations: ["chat/completions"] });
    expect((await respond(provider)).status).toBe(200);
    expect(upstream.lastRequest.url).toBe("/v1/chat/completions");
  });
});

it.each([
  ["other presets", () => vLLM({ baseURL: upstream.url }), "/v1/chat/completions"],
  ["any other server", () => openAICompatible({ baseURL: upstream.url }), "/v1/chat/completions"],
  [
    "a server of which it is known",
    () => openAICompatible({ baseURL: upstream.url, operations: ["chat/completions", "responses"] }),
    "/v1/responses",
  ],
])("what %s speaks decides what is called", async (_name, make, path) => {
  const response = await respond(make());
  expect(await response.json()).toMatchObject({ object: "response", output: [{ type: "message" }] });
  expect(upstream.lastRequest.url).toBe(path);
});

describe("operations", () => {
  it.each([
    ["none", []],
    ["an unknown one", ["chat"]],
    ["a text", "responses"],
  ])("are refused: %s", (_name, operations) => {
    const make = () => openAICompatible({ baseURL: "http://127.0.0.1:9/v1", operations: operations as never });
    expect(make).toThrow(TypeError);
    expect(make).toThrow("operations");
  });

  it("are no part of a base URL", () => {
    expect(() => openAICompatible({ baseURL: "https://api.openai.com/v1/responses" })).toThrow(
      "end before the endpoint",
    );
  });
});
