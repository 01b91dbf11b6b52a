import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import OpenAI from "openai";
import type { ResponseStreamEvent } from "openai/resources/responses/responses";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { badGateway } from "../../../../src/errors/gateway-error.js";
import { frameEvents } from "../../../../src/protocols/responses/response-events.js";
import { parseResponsesRequest } from "../../../../src/protocols/responses/responses-request.js";
import { ChatToResponsesStream } from "../../../../src/protocols/translate/chat-to-responses-stream.js";
import { toResponseContext } from "../../../../src/protocols/translate/response-context.js";
import { toResponse } from "../../../../src/protocols/translate/responses-client-sink.js";
import { atOnce } from "../../../../src/wire/slices.js";
import { type Chunk, chunkOf, end, thoughts } from "../../../support/translate/responses-samples.js";
import { toChatRequest } from "../../../support/translate/whole-translations.js";

/** What the upstream answers next: chunks, the last of which may be a failure. */
let script: { chunks: Chunk[]; fails?: boolean } = { chunks: [] };
/** The chat completion requests that the upstream has got. */
const upstreamRequests: Record<string, unknown>[] = [];

function answer(body: Buffer): { type: string; body: Buffer } {
  const request = atOnce(parseResponsesRequest(body, 256));
  const chat = toChatRequest(request, { thoughts });
  upstreamRequests.push(chat.body);
  const context = toResponseContext(request, {
    responseId: "resp_0123456789abcdef",
    model: request.model,
    createdAt: 1_763_000_000,
    previousResponseId: request.previousResponseId,
    isStored: false,
    names: chat.names,
    thoughts,
  });
  if (!request.stream) {
    const [first = {}] = script.chunks;
    return { type: "application/json", body: Buffer.from(JSON.stringify(toResponse(first, context, end))) };
  }
  const stream = new ChatToResponsesStream(context);
  const events = [...stream.begin(), ...stream.keepAlive(), ...script.chunks.flatMap((chunk) => stream.chunk(chunk))];
  const last = script.fails === true ? stream.fault(badGateway("The model broke off.")) : stream.end(end);
  return { type: "text/event-stream", body: frameEvents([...events, ...last]) };
}

const server = createServer((request, response) => {
  const pieces: Buffer[] = [];
  request.on("data", (piece: Buffer) => pieces.push(piece));
  request.on("end", () => {
    const { type, body } = answer(Buffer.concat(pieces));
    response.writeHead(200, { "content-type": type });
    response.end(body);
  });
});

let baseURL = "";
let openai: OpenAI;
beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  baseURL = `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`;
  openai = new OpenAI({ baseURL, apiKey: "sk-test", maxRetries: 0 });
});
afterAll(() => new Promise((resolve) => server.close(resolve)));

const message = (members: object, finish = "stop"): Chunk => ({
  choices: [{ index: 0, message: { role: "assistant", content: null, ...members }, finish_reason: finish }],
});
const weather = (args: string) => ({
  index: 0,
  id: "call_1",
  type: "function",
  function: { name: "get_weather", arguments: args },
});
const tools = [{ type: "function" as const, name: "get_weather", parameters: { type: "object" }, strict: false }];

describe("the openai package", () => {
  const input = "hi";
  const model = "acme/small";

  it("reads a whole response", async () => {
    script = { chunks: [message({ content: "Hello", reasoning_content: "Hm", refusal: "No" })] };
    const response = await openai.responses.create({ model, input });
    expect(response.output_text).toBe("Hello");
    expect(response.output.map(({ type }) => type)).toEqual(["reasoning", "message"]);
    expect(response.usage?.output_tokens_details.reasoning_tokens).toBe(5);
  });

  it("makes one response of a stream, which is that of the events", async () => {
    script = {
      chunks: [
        chunkOf({ reasoning_content: "Hm" }),
        chunkOf({ content: "Hel" }),
        chunkOf({ content: "lo" }),
        chunkOf({ refusal: "No" }),
        chunkOf({ tool_calls: [weather('{"city"')] }),
        chunkOf({ tool_calls: [{ index: 0, function: { arguments: ':"Rome"}' } }] }),
        chunkOf({ tool_calls: [{ index: 1, id: "p", function: { name: "patch", arguments: '{"input":"x"}' } }] }),
        chunkOf({}, "tool_calls"),
      ],
    };
    const all = [...tools, { type: "custom" as const, name: "patch" }];
    const stream = openai.responses.stream({ model, input, tools: all });
    const events: ResponseStreamEvent[] = [];
    for await (const event of stream) events.push(event as ResponseStreamEvent);
    const response = await stream.finalResponse();
    expect(response.output_text).toBe("Hello");
    expect(response.output.map(({ type }) => type)).toEqual([
      "reasoning",
      "message",
      "function_call",
      "custom_tool_call",
    ]);
    expect(response.output[2]).toMatchObject({ name: "get_weather", arguments: '{"city":"Rome"}', call_id: "call_1" });
    expect(response.output[3]).toMatchObject({ name: "patch", input: "x", call_id: "p" });
    const last = events.at(-1);
    expect(last?.type === "response.completed" && last.response.output.length).toBe(4);
    // What a client keeps of it goes on as the turn that it was.
    script = { chunks: [chunkOf({ content: "Sunny" }, "stop")] };
    const { output } = response as unknown as { output: OpenAI.Responses.ResponseInputItem[] };
    const outputs = ["call_1", "p"].map(
      (call_id, index) =>
        ({ type: index === 0 ? "function_call_output" : "custom_tool_call_output", call_id, output: "20" }) as const,
    );
    await openai.responses.stream({ model, input: [...output, ...outputs], tools: all }).finalResponse();
    expect(upstreamRequests.at(-1)?.["messages"]).toMatchObject([
      { role: "assistant", content: "Hello", refusal: "No", tool_calls: [{ id: "call_1" }, { id: "p" }] },
      { role: "tool", tool_call_id: "call_1", content: "20" },
      { role: "tool", tool_call_id: "p", content: "20" },
    ]);
  });

  it("parses what a schema asks for", async () => {
    script = { chunks: [message({ content: '{"a":1}' })] };
    const format = { type: "json_schema" as const, name: "out", schema: { type: "object" }, strict: true };
    const response = await openai.responses.parse({ model, input, text: { format } });
    expect(response.output_parsed).toEqual({ a: 1 });
  });

  it("fails with a stream that fails", async () => {
    script = { chunks: [chunkOf({ content: "Hel" })], fails: true };
    const raw = async () => {
      for await (const _event of await openai.responses.create({ model, input, stream: true }));
    };
    await expect(raw()).rejects.toThrow("The model broke off.");
    await expect(openai.responses.stream({ model, input }).finalResponse()).rejects.toThrow("The model broke off.");
  });

  it("sees that a response was cut off", async () => {
    script = { chunks: [chunkOf({ content: "Hel" }), chunkOf({}, "length")] };
    const response = await openai.responses.stream({ model, input }).finalResponse();
    expect(response).toMatchObject({ status: "incomplete", incomplete_details: { reason: "max_output_tokens" } });
  });
});

describe("LangChain", () => {
  const model = () =>
    new ChatOpenAI({
      model: "acme/small",
      apiKey: "sk-test",
      configuration: { baseURL },
      useResponsesApi: true,
      maxRetries: 0,
    });

  it("reads a whole response with a call", async () => {
    script = { chunks: [message({ content: "Look", tool_calls: [weather('{"city":"Rome"}')] }, "tool_calls")] };
    const reply = await model()
      .bindTools(tools)
      .invoke([new HumanMessage("hi")]);
    expect(reply.text).toBe("Look");
    expect(reply.tool_calls).toMatchObject([{ id: "call_1", name: "get_weather", args: { city: "Rome" } }]);
    expect(reply.usage_metadata).toMatchObject({ input_tokens: 30, output_tokens: 20 });
  });

  it("reads a stream, and fails with one that fails", async () => {
    script = { chunks: [chunkOf({ content: "Hel" }), chunkOf({ content: "lo" }, "stop")] };
    let text = "";
    for await (const chunk of await model().stream("hi")) text += chunk.text;
    expect(text).toBe("Hello");
    script = { ...script, fails: true };
    const run = async () => {
      for await (const _chunk of await model().stream("hi"));
    };
    await expect(run()).rejects.toThrow("The model broke off.");
  });
});
