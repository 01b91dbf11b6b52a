import { openRouter } from "../../../../src/providers/presets.js";
import { type DialectSample, done, events, messagesWithout } from "./dialect-sample.js";

const usage = {
  prompt_tokens: 194,
  completion_tokens: 12,
  total_tokens: 206,
  cost: 0.00095,
  is_byok: false,
  prompt_tokens_details: { cached_tokens: 100, audio_tokens: 0 },
  cost_details: { upstream_inference_cost: 0.00019 },
  completion_tokens_details: { reasoning_tokens: 5, image_tokens: 0 },
};
const head = { id: "gen-1763718500-RqKtNvdk", provider: "DeepInfra", model: "qwen/qwen3-32b", created: 1763718500 };
const answer = (message: object, finish = "stop") =>
  JSON.stringify({
    ...head,
    object: "chat.completion",
    choices: [
      {
        logprobs: null,
        finish_reason: finish,
        native_finish_reason: finish,
        index: 0,
        message: { role: "assistant", content: "", refusal: null, reasoning: null, ...message },
      },
    ],
    usage,
  });
const chunk = (delta: object, finish: string | null = null) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [
    {
      index: 0,
      delta: { role: "assistant", content: "", ...delta },
      finish_reason: finish,
      native_finish_reason: finish,
      logprobs: null,
    },
  ],
});
const last = { ...chunk({}), usage };
const processing = ": OPENROUTER PROCESSING\n\n";
const call = { id: "call_FcK1", index: 0, type: "function" };
const thoughts = (text: string) => ({
  reasoning: text,
  reasoning_details: [{ type: "reasoning.text", text, format: "unknown", index: 0 }],
});

export const openRouterSample: DialectSample = {
  name: "openRouter",
  make: (origin) => openRouter({ baseURL: `${origin}/api/v1`, apiKey: "sk-upstream" }),
  path: "/api/v1/chat/completions",
  key: { authorization: "Bearer sk-upstream" },
  received: { max_tokens: 40, max_completion_tokens: undefined, logprobs: true },
  messages: messagesWithout(),
  // While it waits it fills a whole answer with blank lines.
  whole: { body: `\n         \n\n${answer({ content: "Hello!" })}`, content: "Hello!", tokens: [194, 100, 12, 5] },
  stream: {
    body: events(
      processing,
      processing,
      chunk({ content: "Hel" }),
      processing,
      chunk({ content: "lo!" }),
      chunk({}, "stop"),
      last,
      done,
    ),
    content: "Hello!",
    tokens: [194, 100, 12, 5],
    hidden: ["cost", "cost_details", "is_byok"],
  },
  tools: {
    whole: answer(
      { content: null, tool_calls: [{ ...call, function: { name: "get_weather", arguments: '{"city":"Paris"}' } }] },
      "tool_calls",
    ),
    stream: events(
      processing,
      chunk({ content: null, tool_calls: [{ ...call, function: { name: "get_weather", arguments: "" } }] }),
      chunk({
        content: null,
        tool_calls: [{ index: 0, type: "function", function: { arguments: '{"city":"Paris"}' } }],
      }),
      chunk({}, "tool_calls"),
      last,
      done,
    ),
  },
  reasoning: {
    member: "reasoning",
    whole: answer({ content: "4", ...thoughts("2+2 is 4.") }),
    stream: events(
      processing,
      chunk(thoughts("2+2 ")),
      chunk(thoughts("is 4.")),
      chunk({ content: "4" }),
      chunk({}, "stop"),
      last,
      done,
    ),
  },
  errors: [
    {
      what: "a provider's refusal, wrapped",
      status: 400,
      body: JSON.stringify({
        error: {
          message: "Provider returned error",
          code: 400,
          metadata: {
            raw: '{"error":{"message":"This endpoint\'s maximum context length is 40960 tokens.","type":"invalid_request_error","code":400}}',
            provider_name: "DeepInfra",
          },
        },
        user_id: "user_2mVq",
      }),
      expected: { status: 400, code: "context_length_exceeded", message: /maximum context length is 40960/ },
    },
    {
      what: "flagged input",
      status: 403,
      body: JSON.stringify({
        error: {
          message: "Your chosen model requires moderation and your input was flagged.",
          code: 403,
          metadata: { reasons: ["violence"], flagged_input: "Grü…", provider_name: "OpenAI", model_slug: "x/y" },
        },
      }),
      expected: { status: 400, code: "content_policy_violation", message: /flagged/ },
    },
    {
      what: "a 403 of its own",
      status: 403,
      body: JSON.stringify({ error: { message: "Key limit exceeded (total limit).", code: 403 } }),
      expected: { status: 502, code: "bad_gateway", message: /^(?!.*limit)/ },
    },
    {
      what: "a model without tools",
      status: 404,
      body: JSON.stringify({ error: { message: "No endpoints found that support tool use.", code: 404 } }),
      expected: { status: 400, code: "unsupported_parameter", message: /tool use/ },
    },
    {
      what: "an empty balance",
      status: 402,
      body: JSON.stringify({ error: { message: "Insufficient credits. Add more.", code: 402 } }),
      expected: { status: 502, code: "bad_gateway", message: /^(?!.*credits)/ },
    },
    {
      what: "an error in place of a choice",
      status: 200,
      body: JSON.stringify({
        ...head,
        object: "chat.completion",
        choices: [
          {
            index: 0,
            finish_reason: "error",
            error: { code: 502, message: "Upstream error from DeepInfra" },
            message: { role: "assistant", content: "" },
          },
        ],
      }),
      expected: { status: 502, code: "bad_gateway", message: /^(?!.*DeepInfra)/ },
    },
    {
      what: "an error in a stream",
      status: 200,
      inStream: true,
      body: events(processing, chunk({ content: "Hel" }), {
        ...head,
        object: "chat.completion.chunk",
        error: { code: 429, message: "Provider DeepInfra is rate limited" },
        choices: [{ index: 0, delta: { content: "" }, finish_reason: "error" }],
      }),
      expected: { code: "rate_limit_exceeded", message: /^(?!.*DeepInfra)/ },
    },
  ],
};
