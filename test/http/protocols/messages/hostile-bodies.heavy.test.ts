import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { bothTargets } from "../../../support/operations/messages/message-samples.js";
import {
  type MessagesServer,
  messageRefusal,
  messageText,
  startMessages,
} from "../../../support/operations/messages/messages-server.js";

const wrong: readonly unknown[] = [null, -1.5, "x", [], [null], {}, [{ type: {} }]];
const members = [
  ...["model", "messages", "max_tokens", "stream", "system", "tools", "tool_choice", "stop_sequences", "temperature"],
  ...["top_p", "top_k", "thinking", "output_config", "output_format", "metadata", "service_tier", "mcp_servers"],
  ...["container", "context_management", "cache_control", "betas", "speed", "inference_geo"],
];

/** Where a value of a wrong kind can stand inside. */
const places: readonly [name: string, put: (value: unknown) => Record<string, unknown>][] = [
  ...members.map((name): [string, (value: unknown) => Record<string, unknown>] => [
    name,
    (value) => ({ [name]: value }),
  ]),
  ["a message", (value) => ({ messages: [value] })],
  ["a role", (value) => ({ messages: [{ role: value, content: "Hi" }] })],
  ["a content", (value) => ({ messages: [{ role: "user", content: value }] })],
  ["an assistant's content", (value) => ({ messages: [user, { role: "assistant", content: value }] })],
  ["a system's content", (value) => ({ messages: [user, { role: "system", content: value }] })],
  ["a block", (value) => ({ messages: [{ role: "user", content: [value, text] }] })],
  ["a text", (value) => inBlock({ type: "text", text: value })],
  ["a source", (value) => inBlock({ type: "image", source: value })],
  ["data", (value) => inBlock({ type: "image", source: { type: "base64", media_type: "image/png", data: value } })],
  ["a document", (value) => inBlock({ type: "document", source: { type: "content", content: value }, title: value })],
  ["a result", (value) => inBlock({ type: "tool_result", tool_use_id: "a", content: value, is_error: value })],
  ["a result's id", (value) => inBlock({ type: "tool_result", tool_use_id: value, content: "x" })],
  ["a search result", (value) => inBlock({ type: "search_result", source: value, title: value, content: value })],
  ["an input", (value) => inTurn({ type: "tool_use", id: "a", name: "f", input: value })],
  ["a call's id", (value) => inTurn({ type: "tool_use", id: value, name: "f", input: {} })],
  ["a call's name", (value) => inTurn({ type: "tool_use", id: "a", name: value, input: {} })],
  ["a thought", (value) => inTurn({ type: "thinking", thinking: value, signature: "EqQB" })],
  ["a signature", (value) => inTurn({ type: "thinking", thinking: "hm", signature: value })],
  ["what is hidden", (value) => inTurn({ type: "redacted_thinking", data: value })],
  ["a tool", (value) => ({ tools: [value] })],
  ["a tool's type", (value) => ({ tools: [{ type: value, name: "f", input_schema: {} }] })],
  ["a tool's name", (value) => ({ tools: [{ name: value, input_schema: {} }] })],
  ["a schema", (value) => ({ tools: [{ name: "f", input_schema: value }] })],
  ["properties", (value) => ({ tools: [{ name: "f", input_schema: { type: "object", properties: value } }] })],
  ["a description", (value) => ({ tools: [{ name: "f", description: value, input_schema: {}, strict: value }] })],
  ["a choice's name", (value) => ({ tools: [tool], tool_choice: { type: "tool", name: value } })],
  ["a budget", (value) => ({ thinking: { type: "enabled", budget_tokens: value, display: value } })],
  ["an effort", (value) => ({ output_config: { effort: value, format: value } })],
  ["a stop sequence", (value) => ({ stop_sequences: [value] })],
];

const user = { role: "user", content: "Hi" };
const text = { type: "text", text: "Hi" };
const tool = { name: "f", input_schema: { type: "object" } };

function inBlock(block: unknown): Record<string, unknown> {
  return { messages: [{ role: "user", content: [block, text] }] };
}

function inTurn(block: unknown): Record<string, unknown> {
  return { messages: [user, { role: "assistant", content: [text, block] }, user] };
}

describe.each(bothTargets)("in front of $name", (target) => {
  let server: MessagesServer;
  beforeAll(async () => {
    server = await startMessages(target);
  });
  afterAll(async () => {
    await server.checkBooks();
    expect(server.warnings).toEqual([]);
    await server.close();
  });

  /** A message, or a refusal that says what is wrong; nothing of it is the gateway's fault. */
  async function answered(body: string): Promise<number> {
    const before = server.upstream.requests.length;
    const response = await server.post(body);
    if (response.status === 200) {
      expect(server.upstream.requests).toHaveLength(before + 1);
      const sent = JSON.parse(server.upstream.lastRequest.body.toString()) as { model: unknown };
      expect(sent.model).toBe("upstream-small");
      await response.body?.cancel();
      return 200;
    }
    const { status, type, message } = await messageRefusal(response);
    expect([400, 404], message).toContain(status);
    expect(type).toBe(status === 400 ? "invalid_request_error" : "not_found_error");
    expect(message).not.toBe("");
    expect(server.upstream.requests).toHaveLength(before);
    return status;
  }

  it.each(places)("takes or refuses whatever stands for %s", async (_name, put) => {
    for (const value of wrong) await answered(messageText(put(value)));
  });

  it.each<[path: string, body: Record<string, unknown>]>([
    ["model", { model: undefined }],
    ["model", { model: 5 }],
    ["messages", { messages: undefined }],
    ["messages", { messages: [] }],
    ["messages", { messages: "Hi" }],
    ["messages.0", { messages: ["Hi"] }],
    ["messages.1.role", { messages: [user, { content: "x" }] }],
    ["max_tokens", { max_tokens: -1 }],
    ["max_tokens", { max_tokens: "50" }],
    ["max_tokens", { max_tokens: 1.5 }],
    ["stream", { stream: "true" }],
    ["tools", { tools: {} }],
    ["tools.1", { tools: [tool, "f"] }],
    ["tools.0", { tools: [{ type: "web_search_20250305", name: "web_search" }] }],
    ["mcp_servers", { mcp_servers: [{ type: "url", url: "https://x.test", name: "x" }] }],
  ])("says where the fault is: %s", async (path, body) => {
    const { status, type, message, shouldRetry } = await messageRefusal(await server.post(messageText(body)));
    expect({ status, type, shouldRetry }).toEqual({ status: 400, type: "invalid_request_error", shouldRetry: "false" });
    expect(message.startsWith(`${path}: `)).toBe(true);
  });

  it.each([
    "Model",
    "MAX_TOKENS",
    "maxTokens",
    "Me\u017fsages",
    "Stream",
    "SYSTEM",
    "stopSequences",
    "Tools",
    "Thinking",
  ])("refuses %s, which some server takes for another member", async (name) => {
    const { message } = await messageRefusal(await server.post(messageText({ [name]: null })));
    expect(message).toContain(name);
  });

  it.each([
    ["model", '"model":"acme/large"'],
    ["max_tokens", '"max_tokens":9'],
    ["messages", '"messages":[]'],
    ["system", '"system":"a","system":"b"'],
    ["tools", '"tools":[],"tools":[]'],
    ["messages.0", '"x":0', '{"role":"user","content":"a","content":"b"}'],
    ["messages.0", '"x":0', '{"role":"user","content":[{"type":"text","type":"image","text":"a"}]}'],
  ])("refuses %s twice", async (path, more, message = '{"role":"user","content":"Hi"}') => {
    const body = `{"model":"acme/small","max_tokens":50,"messages":[${message}],${more}}`;
    expect((await messageRefusal(await server.post(body))).message).toContain(path);
  });

  it("takes deep and wide requests as far as limits go, and refuses the rest", async () => {
    const deep = (levels: number) => `${'{"a":'.repeat(levels)}1${"}".repeat(levels)}`;
    const schema = (levels: number) =>
      `{"model":"acme/small","max_tokens":9,"messages":[{"role":"user","content":"Hi"}],"tools":[{"name":"f","input_schema":${deep(levels)}}]}`;
    expect(await answered(schema(200))).toBe(200);
    expect(await answered(schema(300))).toBe(400);
    const many = <T>(count: number, value: T) => new Array<T>(count).fill(value);
    expect(await answered(messageText({ messages: many(3000, user) }))).toBe(200);
    expect(await answered(messageText({ tools: many(2048, tool) }))).toBe(200);
    expect(await answered(messageText({ tools: many(2049, tool) }))).toBe(400);
    expect(await answered(messageText({ system: many(1025, text) }))).toBe(400);
    expect(await answered(messageText({ stop_sequences: many(1025, "x") }))).toBe(400);
  });

  it("passes numbers of more digits than a double has, and halves of surrogate pairs", async () => {
    const half = "\\ud83d";
    const input = `{"n":12345678901234567890,"m":1e300,"t":"${half}"}`;
    const messages = [
      `{"role":"user","content":"${half}"}`,
      `{"role":"assistant","content":[{"type":"tool_use","id":"toolu_1","name":"f","input":${input}}]}`,
      '{"role":"user","content":[{"type":"tool_result","tool_use_id":"toolu_1","content":"x"}]}',
    ];
    const body = `{"model":"acme/small","max_tokens":99999999999999,"temperature":0.10,"messages":[${messages.join()}]}`;
    expect(await answered(body)).toBe(200);
    const sent = server.upstream.lastRequest.body.toString();
    const passed = target.path === "/v1/messages" ? sent : sent.replaceAll('\\"', '"').replaceAll("\\\\", "\\");
    expect(passed).toContain(input);
    expect(sent).toContain(half);
    expect(server.upstream.lastRequest.json["max_tokens"]).toBe(1000);
  });

  it("refuses what is no JSON, no UTF-8, or nothing", async () => {
    for (const body of ["", "{", "[]", "null", '"x"', '{"model":}', `${messageText()}x`, `\u0000${messageText()}`]) {
      expect(await answered(body)).toBe(400);
    }
  });

  it("takes or refuses whatever is made of a request by cutting and doubling", async () => {
    const whole = messageText({ ...inTurn({ type: "tool_use", id: "a", name: "f", input: { a: 1 } }), tools: [tool] });
    await fc.assert(
      fc.asyncProperty(
        fc.nat(whole.length),
        fc.nat(whole.length),
        fc.constantFrom("", '"', "{", "]", ",", "\\"),
        async (one, other, piece) => {
          await answered(whole.slice(0, one) + piece + whole.slice(other));
        },
      ),
      { numRuns: 40 },
    );
  });

  it("counts the tokens of whatever it takes, and refuses the rest", async () => {
    for (const [, put] of places) {
      for (const value of [null, [{}]]) {
        const { max_tokens: _, ...body } = JSON.parse(messageText(put(value))) as Record<string, unknown>;
        const response = await server.post(body, { path: "/messages/count_tokens" });
        if (response.status === 200) expect(await response.json()).toEqual({ input_tokens: expect.any(Number) });
        else expect([400, 404]).toContain((await messageRefusal(response)).status);
      }
    }
  });
});
