import { deepSeek } from "../../../../src/providers/presets.js";
import { type DialectSample, done, events, messagesWithout } from "./dialect-sample.js";

const usage = {
  prompt_tokens: 26,
  completion_tokens: 70,
  total_tokens: 96,
  prompt_cache_hit_tokens: 20,
  prompt_cache_miss_tokens: 6,
  completion_tokens_details: { reasoning_tokens: 30 },
};
const head = {
  id: "930c60df-bf64-41c9-a88e-3ec75f81e00e",
  created: 1705651092,
  model: "deepseek-reasoner",
  system_fingerprint: "fp_1c141eb703",
};
const answer = (message: object, finish = "stop") =>
  JSON.stringify({
    ...head,
    object: "chat.completion",
    choices: [
      { index: 0, message: { role: "assistant", content: "", ...message }, logprobs: null, finish_reason: finish },
    ],
    usage,
  });
const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  ...more,
});
const first = chunk({ role: "assistant", content: "" });
const keepAlive = ": keep-alive\n\n";
const call = { id: "call_0_7bd4", type: "function" };

export const deepSeekSample: DialectSample = {
  name: "deepSeek",
  make: (origin) => deepSeek({ baseURL: `${origin}/v1`, apiKey: "sk-upstream" }),
  path: "/v1/chat/completions",
  key: { authorization: "Bearer sk-upstream" },
  received: { max_tokens: 40, max_completion_tokens: undefined, logprobs: true },
  messages: messagesWithout(),
  // While it waits it fills a whole answer with empty lines.
  whole: { body: `\n\n\n${answer({ content: "Hello!" })}`, content: "Hello!", tokens: [26, 20, 70, 30] },
  stream: {
    body: events(
      keepAlive,
      first,
      chunk({ content: "Hel" }),
      keepAlive,
      chunk({ content: "lo!" }),
      chunk({ content: "" }, "stop", { usage }),
      done,
    ),
    content: "Hello!",
    tokens: [26, 20, 70, 30],
  },
  tools: {
    whole: answer(
      { tool_calls: [{ index: 0, ...call, function: { name: "get_weather", arguments: '{"city":"Paris"}' } }] },
      "tool_calls",
    ),
    stream: events(
      first,
      chunk({ tool_calls: [{ index: 0, ...call, function: { name: "get_weather", arguments: "" } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Paris"}' } }] }),
      chunk({ content: "" }, "tool_calls", { usage }),
      done,
    ),
  },
  reasoning: {
    member: "reasoning_content",
    whole: answer({ content: "4", reasoning_content: "2+2 is 4." }),
    stream: events(
      chunk({ role: "assistant", content: null, reasoning_content: "" }),
      chunk({ content: null, reasoning_content: "2+2 " }),
      chunk({ content: null, reasoning_content: "is 4." }),
      chunk({ content: "4", reasoning_content: null }),
      chunk({ content: "", reasoning_content: null }, "stop", { usage }),
      done,
    ),
  },
  errors: [
    {
      what: "an empty balance",
      status: 402,
      body: JSON.stringify({
        error: { message: "Insufficient Balance", type: "unknown_error", param: null, code: "invalid_request_error" },
      }),
      expected: { status: 502, code: "bad_gateway", message: /^(?!.*Balance)/ },
    },
    {
      what: "a schema that it does not know",
      status: 400,
      body: JSON.stringify({
        error: {
          message: "This response_format type is unavailable now",
          type: "invalid_request_error",
          param: null,
          code: "invalid_request_error",
        },
      }),
      expected: { status: 400, code: "invalid_request_error", message: /response_format/ },
    },
    {
      what: "an overloaded server",
      status: 503,
      body: JSON.stringify({ error: { message: "Service is too busy.", type: "server_error", param: null } }),
      expected: { status: 502, code: "bad_gateway" },
    },
  ],
};
