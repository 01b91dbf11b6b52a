import { openAI } from "../../../../src/providers/presets.js";
import { type DialectSample, done, events, fullRequest } from "./dialect-sample.js";

const usage = {
  prompt_tokens: 19,
  completion_tokens: 10,
  total_tokens: 29,
  prompt_tokens_details: { cached_tokens: 4, audio_tokens: 0 },
  completion_tokens_details: {
    reasoning_tokens: 3,
    audio_tokens: 0,
    accepted_prediction_tokens: 0,
    rejected_prediction_tokens: 0,
  },
};
const head = {
  id: "chatcmpl-B9MBs8CjcvOU2jLn4n570S5qMJKcT",
  created: 1741569952,
  model: "gpt-5-2025-08-07",
  service_tier: "default",
};
const answer = (message: object, finish = "stop") =>
  JSON.stringify({
    ...head,
    object: "chat.completion",
    choices: [
      {
        index: 0,
        message: { role: "assistant", content: null, refusal: null, annotations: [], ...message },
        logprobs: null,
        finish_reason: finish,
      },
    ],
    usage,
    system_fingerprint: null,
  });
const chunk = (delta: object, finish: string | null = null) => ({
  ...head,
  object: "chat.completion.chunk",
  system_fingerprint: null,
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  usage: null,
  obfuscation: "p3Fa",
});
const last = { ...head, object: "chat.completion.chunk", choices: [], usage, obfuscation: "" };
const call = { id: "call_9pw1qnYScqvGrCH58HWCvFH6", type: "function" };

export const openAISample: DialectSample = {
  name: "openAI",
  make: (origin) => openAI({ baseURL: `${origin}/v1`, apiKey: "sk-upstream" }),
  path: "/v1/chat/completions",
  key: { authorization: "Bearer sk-upstream" },
  received: { max_completion_tokens: 40, max_tokens: undefined, logprobs: true, store: false, user: "user-1" },
  messages: fullRequest.messages,
  whole: { body: answer({ content: "Hello!" }), content: "Hello!", tokens: [19, 4, 10, 3] },
  stream: {
    body: events(
      chunk({ role: "assistant", content: "", refusal: null }),
      chunk({ content: "Hel" }),
      chunk({ content: "lo!" }),
      chunk({}, "stop"),
      last,
      done,
    ),
    content: "Hello!",
    tokens: [19, 4, 10, 3],
  },
  tools: {
    whole: answer(
      { tool_calls: [{ ...call, function: { name: "get_weather", arguments: '{"city":"Paris"}' } }] },
      "tool_calls",
    ),
    stream: events(
      chunk({
        role: "assistant",
        content: null,
        tool_calls: [{ index: 0, ...call, function: { name: "get_weather", arguments: "" } }],
        refusal: null,
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":' } }] }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }] }),
      chunk({}, "tool_calls"),
      last,
      done,
    ),
  },
  errors: [
    {
      what: "a parameter that the model does not support",
      status: 400,
      body: JSON.stringify({
        error: {
          message: "Unsupported value: 'temperature' does not support 0.5 with this model.",
          type: "invalid_request_error",
          param: "temperature",
          code: "unsupported_value",
        },
      }),
      expected: { status: 400, code: "unsupported_value", param: "temperature" },
    },
    {
      what: "a spent quota",
      status: 429,
      body: JSON.stringify({
        error: {
          message: "You exceeded your current quota, please check your plan and billing details.",
          type: "insufficient_quota",
          param: null,
          code: "insufficient_quota",
        },
      }),
      expected: { status: 502, code: "bad_gateway", message: /not available/ },
    },
    {
      what: "a rate limit",
      status: 429,
      headers: { "retry-after": "6" },
      body: JSON.stringify({
        error: {
          message: "Rate limit reached for gpt-5 in organization org-Zx81 on tokens per min (TPM): Limit 30000.",
          type: "tokens",
          param: null,
          code: "rate_limit_exceeded",
        },
      }),
      expected: { status: 429, code: "rate_limit_exceeded", message: /^(?!.*org-)/ },
    },
    {
      what: "an error in a stream",
      status: 200,
      inStream: true,
      body: events(chunk({ role: "assistant", content: "Hel" }), {
        error: {
          message: "The server had an error while processing your request.",
          type: "server_error",
          param: null,
          code: null,
        },
      }),
      expected: { code: "bad_gateway" },
    },
  ],
};
