import { chatAnswer, chatChunks, eventStream, wholeAnswer } from "../../../src/testing.js";
import { frame, nativeEvents, nativeTarget } from "../../support/operations/messages/message-samples.js";
import type { GoldenCase } from "./golden-cases.js";

const tool = { name: "add", input_schema: { type: "object", properties: {} } };
const calls = [{ id: "toolu_1", name: "add", arguments: '{"a":1}' }];
const chatCalls = calls.map(({ id, name, arguments: text }) => ({
  id,
  type: "function" as const,
  function: { name, arguments: text },
}));
const version = { "anthropic-version": "2023-06-01" };

type Sent = Pick<GoldenCase, "method" | "path" | "key" | "headers" | "body">;

function post(path: string, body: Record<string, unknown>, headers: Record<string, string> = version): Sent {
  return { method: "POST", path, headers, body: JSON.stringify(body) };
}

/** A request for a message, to a server of chat completions. */
function ask(members: Record<string, unknown> = {}, headers?: Record<string, string>): Sent {
  const messages = [{ role: "user", content: "Say hello." }];
  return post("/v1/messages", { model: "acme/small", max_tokens: 50, messages, ...members }, headers);
}

/** The same to a server that speaks Messages. */
function askNative(members: Record<string, unknown> = {}): Sent {
  return {
    ...ask(
      { model: "claude/small", ...members },
      { ...version, "anthropic-beta": "effort-2025-11-24,interleaved-thinking" },
    ),
    key: "sk-claude",
  };
}

/** Everything that a client of Messages can see of the gateway. */
export const goldenMessages: readonly GoldenCase[] = [
  { name: "message", ...ask({ system: "Be brief." }), upstream: wholeAnswer() },
  {
    name: "message of a version that has every member",
    ...ask({}, { "anthropic-version": "2026-10-21" }),
    upstream: wholeAnswer(),
  },
  {
    name: "message with a call and thinking, cap cut down",
    ...ask({ max_tokens: 64_000, tools: [tool], thinking: { type: "adaptive" } }),
    upstream: wholeAnswer(
      JSON.stringify(chatAnswer({ content: null, toolCalls: chatCalls })).replace(
        '"role":"assistant"',
        '"role":"assistant","reasoning_content":"Add."',
      ),
      { headers: { "content-type": "application/json" } },
    ),
  },
  { name: "message as a stream", ...ask({ stream: true }), upstream: eventStream() },
  {
    name: "message as a stream, with calls",
    ...ask({ stream: true, tools: [tool] }),
    upstream: eventStream(
      chatChunks("", {
        finishReason: "tool_calls",
        deltas: chatCalls.map((call, index) => ({ tool_calls: [{ index, ...call }] })),
      }),
    ),
  },
  {
    name: "message as a stream that stops before its end",
    ...ask({ stream: true }),
    upstream: eventStream(chatChunks("Hello world", { finishReason: null, usage: null }), { done: false }),
  },
  { name: "message of a server that speaks the API", ...askNative(), upstream: nativeTarget.whole() },
  {
    name: "message of a server that speaks the API, as a stream",
    ...askNative({ stream: true, service_tier: "auto" }),
    upstream: nativeTarget.stream({ calls }),
  },
  {
    name: "message of a server that speaks the API, as a stream that breaks off",
    ...askNative({ stream: true }),
    upstream: eventStream(nativeEvents({ isBroken: true }).map(frame), { done: false }),
  },
  {
    name: "chat completion of a server that speaks Messages",
    ...post("/v1/chat/completions", { model: "claude/small", messages: [{ role: "user", content: "Hi" }] }, {}),
    key: "sk-claude",
    upstream: nativeTarget.whole({ calls }),
  },
  {
    name: "chat completion of a server that speaks Messages, as a stream",
    ...post(
      "/v1/chat/completions",
      { model: "claude/small", stream: true, messages: [{ role: "user", content: "Hi" }] },
      {},
    ),
    key: "sk-claude",
    upstream: nativeTarget.stream(),
  },
  {
    name: "tokens of a message",
    ...post("/v1/messages/count_tokens", { model: "acme/small", messages: [{ role: "user", content: "Say hello." }] }),
  },
  { name: "model list in Anthropic's shape", path: "/v1/models", key: "sk-basic", headers: version },
  { name: "model record in Anthropic's shape", path: "/v1/models/acme/small", headers: version },
  { name: "model record in Anthropic's shape that does not exist", path: "/v1/models/none", headers: version },
  { name: "message without a key", ...ask(), key: null },
  { name: "message of a model outside the plan", ...ask({ model: "acme/large" }), key: "sk-basic" },
  { name: "message of a model that does not exist", ...ask({ model: "acme/none" }) },
  { name: "message without a cap", ...ask({ max_tokens: undefined }) },
  { name: "message with a tool of the server's", ...ask({ tools: [{ type: "web_search_20250305", name: "x" }] }) },
  {
    name: "message that is too long",
    ...ask({ messages: [{ role: "user", content: "word ".repeat(130_000) }] }),
  },
  { name: "message, used up", ...ask(), key: "sk-poor" },
  { name: "message by a method that is not supported", path: "/v1/messages", headers: version },
  {
    name: "message, upstream: 529",
    ...askNative(),
    upstream: nativeTarget.error(529, "overloaded_error", "Overloaded", { "retry-after": "3" }),
  },
  {
    name: "message, upstream: 400",
    ...askNative(),
    upstream: nativeTarget.error(400, "invalid_request_error", "messages.0.content.0.text: must not be empty"),
  },
  { name: "message, upstream: 429", ...ask(), upstream: wholeAnswer({ error: "Slow down." }, { status: 429 }) },
];
