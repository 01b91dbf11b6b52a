import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { mistral } from "../../../src/providers/presets.js";
import {
  chatRequest,
  embeddingModel,
  embeddingRequest,
  smallModel,
  startTestGateway,
  type TestGateway,
} from "../../support/test-gateway.js";

let test: TestGateway;
beforeAll(async () => {
  test = await startTestGateway();
});
afterAll(() => test.close());

const messages = '"messages":[{"role":"user","content":"hi"}]';
const valid = `"model":"acme/small",${messages}`;

async function refusal(request: Request, gateway = test.gateway): Promise<string | null> {
  const response = await gateway.handler(request);
  const { error } = (await response.json()) as { error?: { param: string | null } };
  expect({ status: response.status, error }).toMatchObject({ status: 400, error: { type: "invalid_request_error" } });
  return error?.param ?? null;
}

function responseRequest(body: string): Request {
  const headers = { "content-type": "application/json", authorization: "Bearer sk-pro" };
  return new Request("http://gateway.test/v1/responses", { method: "POST", headers, body });
}

/** What a server in Go, one on Java's names, and one that maps camel case take for the name. */
function spellings(name: string): string[] {
  const camel = name.replace(/_(.)/g, (_, letter: string) => letter.toUpperCase());
  return [
    name.toUpperCase(),
    name.charAt(0).toUpperCase() + name.slice(1),
    name.replace("s", "\u017f"),
    name.replace("k", "\u212a"),
    name.replace("i", "\u0130"),
    camel,
    name.replaceAll("_", "-"),
    name.replaceAll("_", ""),
  ].filter((each) => each !== name);
}

const chatMembers = ["model", "messages", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n"];
const droppedMembers = [
  "tools",
  "tool_choice",
  "parallel_tool_calls",
  "functions",
  "function_call",
  "reasoning_effort",
];

describe("a member that some server takes for one that the gateway reads", () => {
  it.each([...chatMembers, ...droppedMembers].flatMap((name) => spellings(name).map((each) => [each])))(
    "is refused: %s",
    async (name) => {
      expect(await refusal(chatRequest(`{${valid},"${name}":null}`))).toBe(name);
      expect(await refusal(chatRequest(`{"${name}":"acme/large",${valid}}`))).toBe(name);
    },
  );

  it.each(["Model", "Input", "Dimen\u017fions", "encodingFormat"])("is refused for embeddings: %s", async (name) => {
    expect(await refusal(embeddingRequest({ [name]: "x" }))).toBe(name);
  });

  it.each([
    ["Model", '"Model":"acme/large"'],
    ["INPUT", '"INPUT":[]'],
    ["maxOutputTokens", '"maxOutputTokens":9'],
    ["Stream", '"Stream":true'],
    ["\u017ftore", '"\u017ftore":true'],
    ["previousResponseId", '"previousResponseId":"resp_1"'],
    ["Tools", '"Tools":[]'],
    ["Background", '"Background":true'],
    ["Reasoning", '"Reasoning":{"effort":"high"}'],
    ["Instructions", '"Instructions":"x"'],
    ["max_output_tokens", '"max_output_tokens":1,"max_output_tokens":9'],
  ])("is refused for responses: %s", async (param, member) => {
    expect(await refusal(responseRequest(`{"model":"acme/small","input":"hi",${member}}`))).toBe(param);
  });

  it.each([
    ["input[0].Role", '{"role":"user","content":"","Role":"developer"}'],
    ["input[0].role", '{"role":"user","role":"developer","content":""}'],
    ["input[0].content", '{"role":"user","content":"","content":[]}'],
    ["input[0].content[0].type", '{"role":"user","content":[{"type":"input_text","type":"input_image"}]}'],
    ["input[0].callId", '{"type":"function_call_output","call_id":"a","callId":"b","output":""}'],
  ])("is refused in items of an input: %s", async (param, item) => {
    expect(await refusal(responseRequest(`{"model":"acme/small","input":[${item}]}`))).toBe(param);
  });

  it.each([
    ["Temperature", '"temperature":0,"Temperature":1'],
    ["Top_K", '"Top_K":1,"top_k":0'],
    ["X_y", '"x_y":0,"X_y":1'],
    ["metadata", '"metadata":{},"metadata":{}'],
    ["x", '"x":0,"x":1'],
  ])("is refused beside one of the same meaning that it does not read: %s", async (param, text) => {
    expect(await refusal(chatRequest(`{${valid},${text}}`))).toBe(param === "Top_K" ? "Top_K" : param);
  });

  it.each(["Include_Usage", "include\\u005fusage", "includeUsage", "\\u0069nclude_Usage"])(
    "is refused in the options of a stream: %s",
    async (name) => {
      const options = `"stream":true,"stream_options":{"include_usage":false,"${name}":true}`;
      expect(await refusal(chatRequest(`{${valid},${options}}`))).toMatch(/^stream_options\./);
    },
  );

  it.each([
    ["include_usage", '{"include_usage":false,"include_usage":true}'],
    ["X", '{"x":false,"X":true}'],
  ])("is refused when it is there twice in the options of a stream: %s", async (name, options) => {
    expect(await refusal(chatRequest(`{${valid},"stream":true,"stream_options":${options}}`))).toBe(
      `stream_options.${name}`,
    );
  });

  it.each([
    ["messages[0].Role", '{"role":"user","Role":"developer"}'],
    ["messages[0].role", '{"role":"user","role":"developer"}'],
    ["messages[0].role", '{"role":"user","r\\u006fle":"developer"}'],
    ["messages[0].Content", '{"role":"user","content":"","Content":[]}'],
    ["messages[0].content", '{"role":"user","content":"","content":[]}'],
    ["messages[0].content[1].type", '{"role":"user","content":["",{"type":"text","type":"image_url"}]}'],
    ["messages[0].content[0].TYPE", '{"role":"user","content":[{"type":"text","TYPE":"image_url"}]}'],
    ["messages[0].content[0].imageUrl", '{"role":"user","content":[{"type":"text","imageUrl":{}}]}'],
  ])("is refused in messages: %s", async (param, message) => {
    expect(await refusal(chatRequest(`{"model":"acme/small","messages":[${message}]}`))).toBe(param);
  });

  it("is refused where a server's dialect renames or leaves it out, and there alone", async () => {
    const { upstream } = test;
    const other = await startTestGateway({
      models: [
        { ...smallModel, upstream: { provider: "strict", model: "m" } },
        { ...smallModel, id: "acme/large" },
        {
          ...smallModel,
          id: "acme/free",
          upstream: [
            { provider: "fake", model: "m" },
            { provider: "strict", model: "m" },
          ],
        },
        embeddingModel,
      ],
      providers: {
        strict: mistral({ baseURL: upstream.url, apiKey: "k", dialect: { dropped: ["repeat_penalty"] } }),
        fake: openAICompatible({ baseURL: upstream.url }),
      },
    });
    const request = (model: string, name: string) => chatRequest(`{"model":"${model}",${messages},"${name}":1}`);
    for (const model of ["acme/small", "acme/free"]) {
      expect(await refusal(request(model, "Repeat_Penalty"), other.gateway)).toBe("Repeat_Penalty");
    }
    for (const name of ["Repeat_Penalty", "repeat_penalty"]) {
      expect((await other.gateway.handler(request("acme/large", name))).status).toBe(200);
    }
    expect((await other.gateway.handler(request("acme/small", "repeat_penalty"))).status).toBe(200);
    expect(upstream.lastRequest.body.toString()).not.toContain("repeat_penalty");
    await other.close();
  });
});

describe("other members", () => {
  it("go on as they are", async () => {
    const name = fc.stringMatching(/^[a-zA-Z_]{3,12}$/).filter((each) => each !== "__proto__");
    const known = [...chatMembers, ...droppedMembers, "reasoning", "input", "dimensions", "encoding_format"];
    const plain = (each: string) => each.toLowerCase().replaceAll("_", "");
    const strange = name.filter((each) => !known.some((one) => plain(one) === plain(each)));
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(strange, { maxLength: 4, selector: plain }), async (names) => {
        const members = names.map((each) => `,"${each}":{"Model":1,"model":2}`).join("");
        expect((await test.gateway.handler(chatRequest(`{${valid}${members}}`))).status).toBe(200);
        expect(test.upstream.lastRequest.body.toString()).toContain(members);
      }),
      { numRuns: 50 },
    );
  });
});
