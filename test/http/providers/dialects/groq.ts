import { groq } from "../../../../src/providers/presets.js";
import { type DialectSample, done, events, messagesWithout } from "./dialect-sample.js";

const usage = {
  queue_time: 0.0134,
  prompt_tokens: 18,
  prompt_time: 0.0005,
  completion_tokens: 9,
  completion_time: 0.0075,
  total_tokens: 27,
  total_time: 0.008,
};
const head = {
  id: "chatcmpl-f51b2cd2-bef7-417e-964e-a08f0b513c22",
  created: 1730241104,
  model: "openai/gpt-oss-20b",
  system_fingerprint: "fp_179b0f92c9",
};
const answer = (message: object, finish = "stop") =>
  JSON.stringify({
    ...head,
    object: "chat.completion",
    choices: [{ index: 0, message: { role: "assistant", ...message }, logprobs: null, finish_reason: finish }],
    usage,
    usage_breakdown: null,
    x_groq: { id: "req_01jbd6g2qdfw2adyrt2az8hz4w" },
    service_tier: "on_demand",
  });
const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, logprobs: null, finish_reason: finish }],
  ...more,
});
const first = chunk({ role: "assistant", content: null }, null, { x_groq: { id: "req_01jbd6g2qdfw2adyrt2az8hz4w" } });
const last = (finish: string) => chunk({}, finish, { x_groq: { id: "req_01jbd6g2qdfw2adyrt2az8hz4w", usage } });
const call = { id: "fc_5f3a", type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' } };

export const groqSample: DialectSample = {
  name: "groq",
  make: (origin) => groq({ baseURL: `${origin}/openai/v1`, apiKey: "sk-upstream" }),
  path: "/openai/v1/chat/completions",
  key: { authorization: "Bearer sk-upstream" },
  received: {
    max_completion_tokens: 40,
    max_tokens: undefined,
    logprobs: undefined,
    top_logprobs: undefined,
    logit_bias: undefined,
    user: "user-1",
  },
  messages: messagesWithout("name", "reasoning_content"),
  whole: { body: answer({ content: "Hello!" }), content: "Hello!", tokens: [18, 0, 9, 0] },
  stream: {
    body: events(first, chunk({ content: "Hel" }), chunk({ content: "lo!" }), last("stop"), done),
    content: "Hello!",
    tokens: [18, 0, 9, 0],
  },
  tools: {
    whole: answer({ tool_calls: [call] }, "tool_calls"),
    stream: events(first, chunk({ tool_calls: [{ ...call, index: 0 }] }), last("tool_calls"), done),
  },
  reasoning: {
    member: "reasoning",
    whole: answer({ content: "4", reasoning: "2+2 is 4." }),
    stream: events(
      first,
      chunk({ reasoning: "2+2 ", channel: "analysis" }),
      chunk({ reasoning: "is 4.", channel: "analysis" }),
      chunk({ content: "4" }),
      last("stop"),
      done,
    ),
  },
  errors: [
    {
      what: "more tokens than the account has in a minute",
      status: 413,
      body: JSON.stringify({
        error: {
          message:
            "Request too large for model `openai/gpt-oss-20b` in organization `org_01kgg5588eftc8k70aes4864eb` service tier `on_demand` on tokens per minute (TPM): Limit 12000, Requested 14137.",
          type: "tokens",
          code: "rate_limit_exceeded",
        },
      }),
      expected: { status: 400, code: "request_too_large", param: "messages", message: /^(?!.*(organi|on_demand))/ },
    },
    {
      what: "a full flex tier",
      status: 498,
      body: JSON.stringify({ error: { message: "Flex tier capacity exceeded", type: "capacity_exceeded" } }),
      expected: { status: 429, code: "rate_limit_exceeded" },
    },
    {
      what: "a failed generation",
      status: 400,
      body: JSON.stringify({
        error: {
          message: "Failed to call a function. Please adjust your prompt.",
          type: "invalid_request_error",
          code: "tool_use_failed",
          failed_generation: "<function=get_weather>",
        },
      }),
      expected: { status: 400, code: "tool_use_failed", message: /adjust your prompt/ },
    },
    {
      what: "an error event in a stream",
      status: 200,
      inStream: true,
      body: events(
        first,
        chunk({ content: "Hel" }),
        'event: error\ndata: {"error":{"message":"over capacity","type":"internal_server_error"}}\n\n',
      ),
      expected: { code: "bad_gateway" },
    },
  ],
};
