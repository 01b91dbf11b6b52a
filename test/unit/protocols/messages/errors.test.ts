import { describe, expect, it } from "vitest";
import {
  badGateway,
  GatewayError,
  modelNotFound,
  refusedKey,
  serviceUnavailable,
  upstreamTimeout,
} from "../../../../src/errors/gateway-error.js";
import { UpstreamStatusError } from "../../../../src/errors/upstream-fault.js";
import {
  anthropicErrorBody,
  anthropicErrorEvent,
  anthropicErrorHeaders,
  fromAnthropicError,
  fromAnthropicErrorEvent,
} from "../../../../src/protocols/messages/anthropic-error.js";

const shown = (error: GatewayError) => JSON.parse(anthropicErrorBody(error, "req_1"));

function failed(status: number, code: string, message: string, param: string | null = null): GatewayError {
  return new GatewayError(message, { status, code, param });
}

describe("an error in Anthropic's shape", () => {
  it("has its type, its message, the gateway's code and the request's id", () => {
    expect(anthropicErrorBody(failed(429, "week_limit_exceeded", "Used up."), "req_1")).toBe(
      '{"type":"error","error":{"type":"rate_limit_error","message":"Used up.","code":"week_limit_exceeded"},"request_id":"req_1"}',
    );
  });

  it("tells clients what not to repeat", () => {
    const headers = (error: GatewayError) => anthropicErrorHeaders(error);
    expect(headers(refusedKey())).toMatchObject({ "x-should-retry": "false" });
    expect(headers(refusedKey())).toHaveProperty("www-authenticate");
    expect(headers(failed(400, "x", "y"))).toHaveProperty("x-should-retry", "false");
    for (const error of [failed(429, "x", "y"), badGateway("x"), serviceUnavailable("x")]) {
      expect(headers(error)).not.toHaveProperty("x-should-retry");
    }
    expect(headers(upstreamTimeout())).toHaveProperty("x-should-retry", "false");
  });

  it("is an event with a name in a stream", () => {
    const event = anthropicErrorEvent(badGateway("x\ny"), "r").toString();
    expect(event).toMatch(/^event: error\ndata: \{"type":"error",[^\n]*\}\n\n$/);
  });

  it.each([
    [refusedKey(), "authentication_error"],
    [failed(403, "model_not_allowed", "x"), "permission_error"],
    [modelNotFound("m"), "not_found_error"],
    [failed(405, "method_not_supported", "x"), "invalid_request_error"],
    [failed(413, "request_too_large", "x"), "request_too_large"],
    [badGateway("x"), "api_error"],
    [badGateway("x", { cause: new UpstreamStatusError(529, "x") }), "overloaded_error"],
    [serviceUnavailable("x"), "overloaded_error"],
    [upstreamTimeout(), "timeout_error"],
    [failed(500, "internal_error", "x"), "api_error"],
  ])("has the type that its status has: %s", (error, type) => {
    expect(shown(error).error.type).toBe(type);
  });

  it("says where the fault is, once", () => {
    expect(shown(failed(400, "invalid_value", "It is bad.", "messages[0].content[2].text")).error.message).toBe(
      "messages.0.content.2.text: It is bad.",
    );
    expect(shown(failed(400, "x", "messages.0: It is bad.", "messages[0]")).error.message).toBe(
      "messages.0: It is bad.",
    );
  });

  it.each([
    [
      "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens. Please reduce the length of the messages.",
      "prompt is too long: 9000 tokens > 8192 maximum",
    ],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 9000 tokens (5000 in the messages, 4000 in the completion).",
      "input length and `max_tokens` exceed context limit: 5000 + 4000 > 8192, decrease input length or `max_tokens` and try again",
    ],
    [
      "This model's maximum context length is 8192 tokens. However, you requested 13000 tokens (9000 in the messages, 4000 in the completion).",
      "prompt is too long: 9000 tokens > 8192 maximum",
    ],
    [
      "This model's maximum context length is 8192 tokens, and 'messages' has more. Shorten it.",
      "prompt is too long: at least 8193 tokens > 8192 maximum",
    ],
    [
      "The request exceeds the model's maximum context length. prompt is too long: 210000 tokens > 200000 maximum",
      "prompt is too long: 210000 tokens > 200000 maximum",
    ],
    ["It does not fit.", "prompt is too long: It does not fit."],
  ])("makes clients shorten the conversation: %s", (message, words) => {
    expect(shown(failed(400, "context_length_exceeded", message, "messages")).error.message).toBe(words);
  });
});

const context = {
  upstreamModel: "claude-sonnet-4-5",
  model: "acme/large",
  promptParam: "messages",
  startedAt: 0,
  secrets: () => ({ keys: ["sk-ant-api03-secretsecret"], urls: ["https://api.anthropic.test/v1"] }),
};

const upstream = (status: number, type: string, message: string, headers: Record<string, string> = {}) =>
  fromAnthropicError(status, headers, { type: "error", error: { type, message }, request_id: "req_x" }, context);

describe("an error of an upstream that speaks Messages", () => {
  it("is the client's own, where it is, with its path", () => {
    const error = upstream(
      400,
      "invalid_request_error",
      "messages.0.content.1.text: claude-sonnet-4-5 takes no such text",
    );
    expect(error).toMatchObject({ status: 400, param: "messages[0].content[1].text" });
    expect(shown(error).error.message).toBe("messages.0.content.1.text: acme/large takes no such text");
  });

  it("is that of a prompt that is too long", () => {
    const error = upstream(400, "invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum");
    expect(error).toMatchObject({ status: 400, code: "context_length_exceeded" });
    expect(shown(error).error.message).toBe("prompt is too long: 210000 tokens > 200000 maximum");
    const sum = "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length";
    expect(shown(upstream(400, "invalid_request_error", sum)).error.message).toBe(sum);
  });

  it.each([
    [401, "authentication_error", "invalid x-api-key"],
    [402, "billing_error", "no"],
    [429, "rate_limit_error", "Your credit balance is too low to access the Anthropic API."],
    [403, "permission_error", "Your API key does not have permission"],
    [400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API."],
    [
      400,
      "invalid_request_error",
      "You have reached your specified API usage limits. You will regain access on 2026-12-01.",
    ],
  ])("stays inside where it is about the gateway's own account: %d %s", (status, type, message) => {
    const error = upstream(status, type, message);
    expect(error).toMatchObject({ status: 502, code: "bad_gateway", headers: { "x-should-retry": "false" } });
    expect(anthropicErrorBody(error, "r")).not.toContain("credit");
  });

  it("is a model that the upstream does not have", () => {
    expect(upstream(404, "not_found_error", "model: claude-sonnet-4-5")).toMatchObject({ status: 502 });
  });

  it("is one of capacity", () => {
    const error = upstream(429, "rate_limit_error", "This request would exceed your organization's rate limit", {
      "retry-after": "7",
    });
    expect(error).toMatchObject({ status: 429, code: "rate_limit_exceeded", headers: { "retry-after": "7" } });
    expect(shown(error).error.message).not.toContain("organization");
    const overloaded = upstream(529, "overloaded_error", "Overloaded", { "retry-after": "3" });
    expect(overloaded).toMatchObject({ status: 502, headers: { "retry-after": "3" } });
    expect(shown(overloaded).error.type).toBe("overloaded_error");
  });

  it("leaks nothing", () => {
    const error = upstream(
      400,
      "invalid_request_error",
      "no: key sk-ant-api03-secretsecret at https://api.anthropic.test/v1/messages",
    );
    expect(error.message).not.toMatch(/secret|anthropic/);
  });

  it.each([
    ["overloaded_error", 502, 529],
    ["rate_limit_error", 429, 429],
    ["api_error", 502, 500],
    ["invalid_request_error", 400, 400],
    ["unheard_of", 502, 500],
  ])("is known by its type inside a stream: %s", (type, status, upstreamStatus) => {
    const error = fromAnthropicErrorEvent({ type: "error", error: { type, message: "m" } }, context);
    expect(error).toMatchObject({ status, cause: expect.objectContaining({ status: upstreamStatus }) });
  });

  it.each([undefined, null, "text", [], { error: 5 }])("is one also where it says nothing: %j", (said) => {
    expect(fromAnthropicError(500, {}, said, context)).toMatchObject({ status: 502 });
    expect(fromAnthropicErrorEvent(said, context)).toMatchObject({ status: 502 });
    const strange = { type: "error", error: { type: "constructor", message: "m" } };
    expect(fromAnthropicErrorEvent(strange, context)).toMatchObject({ status: 502, cause: { status: 500 } });
  });
});
