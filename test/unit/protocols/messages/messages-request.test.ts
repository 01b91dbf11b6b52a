import { Buffer } from "node:buffer";
import { describe, expect, it } from "vitest";
import { GatewayError } from "../../../../src/errors/gateway-error.js";
import { anthropicErrorBody } from "../../../../src/protocols/messages/anthropic-error.js";
import { hostedMessagesTool, hostedToolRefused } from "../../../../src/protocols/messages/messages-capabilities.js";
import { type MessagesRequest, parseMessagesRequest } from "../../../../src/protocols/messages/messages-request.js";
import { atOnce, stepInTurns } from "../../../../src/wire/slices.js";

const hello = { model: "acme/small", max_tokens: 100, messages: [{ role: "user", content: "hi" }] };

function parse(body: unknown): MessagesRequest {
  return atOnce(parseMessagesRequest(Buffer.from(typeof body === "string" ? body : JSON.stringify(body)), 64));
}

/** What a client of Messages gets to read. */
function refusal(body: unknown, run: (body: unknown) => unknown = parse): { type: string; message: string } {
  try {
    run(body);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    expect(error.status).toBe(400);
    return JSON.parse(anthropicErrorBody(error, "req_1")).error;
  }
  throw new Error("It was not refused.");
}

describe("a request for a message", () => {
  it("is read as far as the gateway needs it", () => {
    expect(parse({ ...hello, stream: true })).toMatchObject({ model: "acme/small", stream: true, maxTokens: 100 });
    const { max_tokens: _, ...counted } = hello;
    expect(parse(counted)).toMatchObject({ stream: false, maxTokens: undefined });
  });

  it("may hold whatever else there is", () => {
    const request = parse({
      ...hello,
      context_management: { edits: [{ type: "clear_thinking_20251015" }] },
      output_config: { effort: "high" },
      thinking: { type: "adaptive" },
      some_beta: [{ deep: true }],
      messages: [
        { role: "user", content: [{ type: "invented", x: 1 }] },
        { role: "system", content: "more" },
      ],
    });
    expect(request.model).toBe("acme/small");
  });

  it("is the same read in slices", async () => {
    const content = Array.from({ length: 2000 }, (_, at) => ({ type: "text", text: `${at} ${"x".repeat(200)}` }));
    const bytes = Buffer.from(JSON.stringify({ ...hello, messages: [{ role: "user", content }] }));
    const inTurns = await stepInTurns(parseMessagesRequest(bytes, 64));
    const beside = { body: undefined, outline: undefined, skips: undefined };
    expect({ ...inTurns, ...beside }).toEqual({ ...atOnce(parseMessagesRequest(bytes, 64)), ...beside });
    expect(inTurns.body).toBe(bytes);
    expect(inTurns.outline?.texts).toHaveLength(2000);
  });

  it.each([
    ["no model", { messages: hello.messages }, "model: Field required"],
    ["no messages", { model: "m" }, "messages: Field required"],
    ["messages that are none", { ...hello, messages: {} }, "messages: Input should be an array of objects"],
    ["no role", { ...hello, messages: [{ content: "x" }] }, "messages.0.role: Field required"],
    ["a message that is none", { ...hello, messages: [hello.messages[0], 5] }, "messages.1: Input should be an object"],
    ["a cap that is no number", { ...hello, max_tokens: "5" }, "max_tokens: Input should be an integer"],
    ["a cap below nothing", { ...hello, max_tokens: -1 }, "max_tokens: 'max_tokens' must be at least 1."],
    ["a stream that is none", { ...hello, stream: "yes" }, "stream: Input should be a boolean"],
  ])("is refused for %s, in Anthropic's words", (_name, body, message) => {
    expect(refusal(body)).toMatchObject({ type: "invalid_request_error", message });
  });

  it.each([
    ['{"model":"a","model":"b","messages":[{"role":"user","content":"x"}]}', "model"],
    ['{"model":"a","messages":[{"role":"user","content":"x","content":"y"}]}', "messages.0.content"],
    ['{"model":"a","maxTokens":5,"messages":[{"role":"user","content":"x"}]}', "maxTokens"],
    ['{"model":"a","System":"x","messages":[{"role":"user","content":"x"}]}', "System"],
    ['{"model":"a","stopSequences":["x"],"messages":[{"role":"user","content":"x"}]}', "stopSequences"],
    ['{"model":"a","messages":[{"role":"user","content":[{"type":"text","Type":"image","text":"x"}]}]}', "messages.0"],
  ])("is refused where servers would understand it in different ways: %s", (body, path) => {
    expect(refusal(body).message).toContain(path);
  });

  it("is refused for lists that nobody needs, before anything is made of them", () => {
    const tools = Array.from({ length: 2049 }, () => ({}));
    expect(refusal({ ...hello, tools }).message).toBe("tools: 'tools' must hold at most 2048 elements.");
    expect(refusal({ ...hello, system: tools }).message).toContain("system: ");
    expect(refusal(`{"model":"a","messages":${"[".repeat(100)}${"]".repeat(100)}}`).message).toContain("levels deep");
  });
});

describe("tools that the server runs itself", () => {
  const hosted = (...tools: unknown[]) => hostedMessagesTool(parse({ ...hello, tools }));

  it("are told from those of the client", () => {
    expect(hosted({ name: "a", input_schema: {} }, { type: "custom", name: "b" })).toBeUndefined();
    expect(hosted({ type: "bash_20250124", name: "bash" }, { type: null, name: "x" })).toBeUndefined();
    expect(hosted({ type: "tool_search_tool_regex_20251119", name: "tool_search_tool_regex" })).toBeUndefined();
    expect(hosted({ name: "a" }, { type: "web_search_20250305", name: "web_search" })).toBe("tools[1]");
    expect(hosted({ type: "mcp_toolset" })).toBe("tools[0]");
    expect(hosted({ type: "code_execution_20260120", name: "x" })).toBe("tools[0]");
  });

  it("are refused by their place", () => {
    const path = hosted({ name: "a" }, { type: "web_fetch_20250910", name: "x" }) ?? "";
    const refused = () => {
      throw hostedToolRefused(path);
    };
    expect(refusal(undefined, refused).message).toMatch(/^tools\.1: The tool is one that the server runs itself/);
  });

  it("cannot hide", () => {
    const twice =
      '{"model":"a","messages":[{"role":"user","content":"x"}],"tools":[{"type":"custom","type":"web_search_1"}]}';
    expect(refusal(twice, (body) => hostedMessagesTool(parse(body))).message).toContain("tools.0");
    expect(hosted({ type: "\u0077eb_search_20250305" })).toBe("tools[0]");
  });
});
