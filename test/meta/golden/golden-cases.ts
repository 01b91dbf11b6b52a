import {
  chatAnswer,
  chatChunks,
  errorBody,
  eventStream,
  type FakeAnswer,
  hangBeforeHeaders,
  rawAnswer,
  resetBeforeHeaders,
  wholeAnswer,
} from "../../../src/testing.js";
import { textChunks, textCompletion } from "../../support/completion-samples.js";
import { honestEmbeddings } from "../../support/embedding-samples.js";
import { nativeServer } from "../../support/operations/responses/response-samples.js";

/** One request, and what the upstream answers to it. `{a name}` in its path or body is the id of the response of that case. */
export interface GoldenCase {
  readonly name: string;
  readonly method?: string;
  readonly path?: string;
  /** Instead of the pro account's; `null`: no key. */
  readonly key?: string | null;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Default: the upstream is not called. */
  readonly upstream?: FakeAnswer;
  /** What the next target answers to it. Default: it is not called. */
  readonly next?: FakeAnswer;
}

const hello = [{ role: "user", content: "Say hello." }];

function chat(members: Record<string, unknown> = {}): Pick<GoldenCase, "method" | "path" | "body"> {
  return call("/v1/chat/completions", { model: "acme/small", messages: hello, ...members });
}

function respond(members: Record<string, unknown> = {}): Pick<GoldenCase, "method" | "path" | "body"> {
  return call("/v1/responses", { model: "acme/small", input: "Say hello.", max_output_tokens: 50, ...members });
}

function call(path: string, body: unknown): Pick<GoldenCase, "method" | "path" | "body"> {
  return { method: "POST", path, body: typeof body === "string" ? body : JSON.stringify(body) };
}

const tool = { type: "function", function: { name: "add", parameters: { type: "object", properties: {} } } };
const flatTool = { type: "function", name: "add", parameters: { type: "object", properties: {} } };
const toolCall = { id: "call_1", type: "function", function: { name: "add", arguments: '{"a":1}' } };

/** Everything that a client can see of the gateway: lists, answers whole and streamed, every kind of error. */
export const goldenCases: readonly GoldenCase[] = [
  { name: "liveness", path: "/healthz", key: null },
  { name: "liveness, head", method: "HEAD", path: "/healthz", key: null },
  { name: "readiness", path: "/readyz", key: null },
  { name: "model list", path: "/v1/models" },
  { name: "model list of a smaller plan", path: "/v1/models", key: "sk-basic" },
  { name: "model record", path: "/v1/models/acme/small" },
  { name: "model record outside the plan", path: "/v1/models/acme/large", key: "sk-basic" },
  { name: "model record that does not exist", path: "/v1/models/acme/none" },
  { name: "usage", path: "/v1/usage" },

  { name: "whole answer", ...chat(), upstream: wholeAnswer() },
  {
    name: "whole answer with tool calls, details and members of the server's own",
    ...call(
      "/v1/chat/completions",
      `{ "model": "acme/small", "seed": 9007199254740993, "messages": ${JSON.stringify(hello)}, "tools": [${JSON.stringify(tool)}] }`,
    ),
    upstream: wholeAnswer(
      chatAnswer({
        content: null,
        toolCalls: [toolCall],
        usage: {
          prompt_tokens: 20,
          completion_tokens: 9,
          total_tokens: 29,
          prompt_tokens_details: { cached_tokens: 8 },
          completion_tokens_details: { reasoning_tokens: 4 },
        },
        extra: { system_fingerprint: "fp_1", x_groq: { id: "req_1" } },
      }),
    ),
  },
  { name: "whole answer without usage", ...chat(), upstream: wholeAnswer(chatAnswer({ usage: null })) },
  {
    name: "whole answer in need of repair",
    ...chat(),
    upstream: wholeAnswer('{"id":7,"choices":[{"message":{"content":"Hello"}}],"usage":{"prompt_tokens":9}}', {
      headers: { "content-type": "application/json" },
    }),
  },
  {
    name: "whole answer of a free model",
    ...chat({ model: "acme/free" }),
    upstream: wholeAnswer(),
  },
  { name: "whole answer, cap cut down", ...chat({ max_tokens: 5000 }), upstream: wholeAnswer() },
  {
    name: "vectors",
    ...call("/v1/embeddings", { model: "acme/embed", input: ["one", "two"] }),
    upstream: honestEmbeddings(),
  },
  {
    name: "moderation",
    ...call("/v1/moderations", { model: "acme/moderation", input: ["one", "two"] }),
    upstream: wholeAnswer({
      id: "modr-1",
      model: "omni-moderation-2026-01-01",
      results: [true, false].map((flagged) => ({
        flagged,
        categories: { violence: flagged },
        category_scores: { violence: flagged ? 0.9 : 1e-7 },
      })),
    }),
  },
  {
    name: "ranking by the path of Cohere's second version",
    ...call("/v2/rerank", { model: "acme/rerank", query: "a", documents: ["one", "two"], top_n: 0 }),
    upstream: wholeAnswer({ results: [0.1, 0.9].map((relevance_score, index) => ({ index, relevance_score })) }),
  },
  {
    name: "completion of two prompts",
    ...call("/v1/completions", { model: "acme/native", prompt: ["Once", "Twice"], logprobs: 1 }),
    upstream: wholeAnswer(textCompletion([" upon", " a"])),
  },
  {
    name: "completion as a stream",
    ...call("/v1/completions", { model: "acme/native", prompt: [[1, 2]], max_tokens: 5000, stream: true }),
    upstream: eventStream(textChunks()),
  },
  {
    name: "completion as a stream that is cut off",
    ...call("/v1/completions", { model: "acme/native", prompt: ["a", "b"], stream: true }),
    upstream: eventStream(textChunks()),
  },

  { name: "response", ...respond(), upstream: wholeAnswer() },
  { name: "response as a stream", ...respond({ stream: true }), upstream: eventStream() },
  {
    name: "response that stops before its end",
    ...respond({ stream: true }),
    upstream: eventStream(chatChunks("Hello", { finishReason: null, usage: null }), { done: false }),
  },
  {
    name: "response of a server that speaks the API",
    ...respond({ model: "acme/native" }),
    upstream: nativeServer.whole(),
  },
  {
    name: "response of a server that speaks the API, as a stream",
    ...respond({ model: "acme/native", stream: true }),
    upstream: nativeServer.stream(),
  },
  {
    name: "response with thoughts, a text and calls",
    ...respond({
      tools: [flatTool],
      include: ["reasoning.encrypted_content"],
      instructions: "Be brief.",
      store: false,
    }),
    upstream: wholeAnswer({
      ...chatAnswer(),
      choices: [
        {
          index: 0,
          message: { role: "assistant", content: "Look:", reasoning_content: "Hm.", tool_calls: [toolCall] },
          finish_reason: "tool_calls",
        },
      ],
    }),
  },
  {
    name: "response with calls, as a stream",
    ...respond({ stream: true, tools: [flatTool] }),
    upstream: eventStream(
      chatChunks("", { finishReason: "tool_calls", deltas: [{ tool_calls: [{ index: 0, ...toolCall }] }] }),
    ),
  },
  {
    name: "response of a server that speaks the API, cut off",
    ...respond({ model: "acme/native" }),
    upstream: nativeServer.whole({ isCut: true }),
  },
  {
    name: "response of a server that speaks the API, as a stream that stops",
    ...respond({ model: "acme/native", stream: true }),
    upstream: nativeServer.stream({ isBroken: true }),
  },
  {
    name: "response of a server that speaks the API, refused",
    ...respond({ model: "acme/native" }),
    upstream: wholeAnswer(errorBody("No.", { param: "input[0].content", code: "invalid_value" }), { status: 400 }),
  },
  { name: "kept response", path: "/v1/responses/{response of a server that speaks the API}" },
  { name: "kept response, head", method: "HEAD", path: "/v1/responses/{response of a server that speaks the API}" },
  {
    name: "kept response of another account",
    path: "/v1/responses/{response of a server that speaks the API}",
    key: "sk-basic",
  },
  { name: "input of a kept response", path: "/v1/responses/{response of a server that speaks the API}/input_items" },
  {
    name: "response that goes on from a kept one",
    ...respond({ previous_response_id: "{response of a server that speaks the API}", input: "More." }),
    upstream: wholeAnswer(),
  },
  { name: "kept response, deleted", method: "DELETE", path: "/v1/responses/{response}" },
  { name: "kept response that is gone", path: "/v1/responses/{response}" },
  {
    name: "WebSocket of responses",
    path: "/v1/responses",
    headers: { upgrade: "websocket", connection: "close, Upgrade" },
  },
  { name: "response for a key that is used up", ...respond(), key: "sk-poor" },
  {
    name: "response with what is not supported",
    ...respond({ background: true }),
  },
  {
    name: "response with a tool that nobody runs",
    ...respond({ tools: [{ type: "code_interpreter" }] }),
  },
  { name: "response without an input", ...call("/v1/responses", { model: "acme/small" }) },
  { name: "response that goes on from another one", ...respond({ previous_response_id: "resp_1" }) },

  { name: "stream", ...chat({ stream: true }), upstream: eventStream() },
  {
    name: "stream with usage",
    ...chat({ stream: true, stream_options: { include_usage: true } }),
    upstream: eventStream(),
  },
  {
    name: "stream with tool calls",
    ...chat({ stream: true, tools: [tool] }),
    upstream: eventStream(
      chatChunks("", {
        finishReason: "tool_calls",
        deltas: [
          { tool_calls: [{ index: 0, ...toolCall, function: { name: "add", arguments: "" } }] },
          { tool_calls: [{ index: 0, function: { arguments: '{"a":1}' } }] },
        ],
      }),
    ),
  },
  {
    name: "stream without usage, in CRLF and comments",
    ...chat({ stream: true, stream_options: { include_usage: true } }),
    upstream: eventStream([
      ": thinking\r\n\r\n",
      ...chatChunks("Hello world", { usage: null }).map((chunk) => `data:${JSON.stringify(chunk)}\r\n\r\n`),
    ]),
  },
  {
    name: "stream that is a whole answer",
    ...chat({ stream: true }),
    upstream: wholeAnswer(),
  },
  {
    name: "stream that stops before its end",
    ...chat({ stream: true }),
    upstream: eventStream(chatChunks("Hello world", { finishReason: null, usage: null }), { done: false }),
  },
  {
    name: "stream that fails",
    ...chat({ stream: true }),
    upstream: eventStream([...chatChunks("Hello", { finishReason: null, usage: null }), errorBody("Out of memory")], {
      done: false,
    }),
  },
  {
    name: "stream that fails at once",
    ...chat({ stream: true }),
    upstream: eventStream([errorBody("Out of memory")], { done: false }),
  },

  { name: "no key", ...chat(), key: null },
  { name: "wrong key", ...chat(), key: "sk-wrong" },
  { name: "model outside the plan", ...chat({ model: "acme/large" }), key: "sk-basic" },
  { name: "model that does not exist", ...chat({ model: "acme/none" }) },
  { name: "model of another type", ...chat({ model: "acme/embed" }) },
  { name: "path that does not exist", path: "/v1/chat/other", method: "POST", body: "{}" },
  { name: "method that is not supported", path: "/v1/chat/completions" },
  { name: "body that is not JSON", ...call("/v1/chat/completions", "{]") },
  { name: "body without a model", ...call("/v1/chat/completions", { messages: hello }) },
  { name: "body without messages", ...call("/v1/chat/completions", { model: "acme/small" }) },
  { name: "member of a wrong type", ...chat({ max_tokens: "many" }) },
  { name: "member of a wrong value", ...chat({ max_tokens: 0 }) },
  { name: "body of another type", ...chat(), headers: { "content-type": "text/plain" } },
  { name: "compressed body", ...chat(), headers: { "content-encoding": "gzip" } },
  { name: "prompt that is too long", ...chat({ messages: [{ role: "user", content: "word ".repeat(130_000) }] }) },
  { name: "ranking of nothing", ...call("/v1/rerank", { model: "acme/rerank", query: "a", documents: [] }) },
  { name: "moderation by a model that is not there", ...call("/v1/moderations", { input: "a" }) },
  { name: "completion without a prompt", ...call("/v1/completions", { model: "acme/native" }) },
  { name: "completion whose upstream has none", ...call("/v1/completions", { model: "acme/small", prompt: "a" }) },
  { name: "empty input", ...call("/v1/embeddings", { model: "acme/embed", input: [] }) },
  { name: "used up", ...chat(), key: "sk-poor" },

  {
    name: "upstream: 400",
    ...chat(),
    upstream: wholeAnswer(errorBody("Unknown parameter: 'x'.", { param: "x", code: "unknown_parameter" }), {
      status: 400,
    }),
  },
  {
    name: "upstream: 429",
    ...chat(),
    upstream: wholeAnswer(errorBody("Slow down.", { type: "requests", code: "rate_limit_exceeded" }), {
      status: 429,
      headers: { "retry-after": "3" },
    }),
  },
  { name: "upstream: 401", ...chat(), upstream: wholeAnswer(errorBody("No such key."), { status: 401 }) },
  { name: "upstream: 500", ...chat(), upstream: wholeAnswer(errorBody("Oh."), { status: 500 }) },
  { name: "upstream: 503", ...chat(), upstream: wholeAnswer("<h1>Busy</h1>", { status: 503 }) },
  // The first is on a kept connection: the request is sent once more on a new one.
  { name: "upstream: reset", ...chat(), upstream: resetBeforeHeaders(), next: resetBeforeHeaders() },
  { name: "upstream: garbage", ...chat(), upstream: rawAnswer(["garbage\r\n\r\n"]) },
  { name: "upstream: HTML", ...chat(), upstream: wholeAnswer("<h1>Hello</h1>") },
  { name: "upstream: silence", ...chat({ model: "slow/small" }), key: "sk-slow", upstream: hangBeforeHeaders() },
];
