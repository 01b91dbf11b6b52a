import { mistral } from "../../../../src/providers/presets.js";
import { type DialectSample, done, events, messagesWithout } from "./dialect-sample.js";

const usage = { prompt_tokens: 16, total_tokens: 50, completion_tokens: 34 };
const head = { id: "c3c77283055240cbbaf6f01d384cfccb", created: 1762355135, model: "magistral-medium-2509" };
const answer = (message: object, finish = "stop") =>
  JSON.stringify({
    ...head,
    object: "chat.completion",
    usage,
    choices: [
      { index: 0, finish_reason: finish, message: { role: "assistant", tool_calls: null, content: "", ...message } },
    ],
  });
const chunk = (delta: object, finish: string | null = null, more: object = {}) => ({
  ...head,
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta, finish_reason: finish }],
  ...more,
});
const first = chunk({ role: "assistant", content: "" });
const thinking = (text: string) => [{ type: "thinking", thinking: [{ type: "text", text }] }];
const call = { id: "D681PevKs", function: { name: "get_weather", arguments: '{"city": "Paris"}' }, index: 0 };

export const mistralSample: DialectSample = {
  name: "mistral",
  make: (origin) => mistral({ baseURL: `${origin}/v1`, apiKey: "sk-upstream" }),
  path: "/v1/chat/completions",
  key: { authorization: "Bearer sk-upstream" },
  received: {
    max_tokens: 40,
    max_completion_tokens: undefined,
    random_seed: 9007199254740993n,
    seed: undefined,
    stream_options: undefined,
    logprobs: undefined,
    top_logprobs: undefined,
    logit_bias: undefined,
    user: undefined,
    store: undefined,
    temperature: 0.5,
  },
  messages: messagesWithout("name", "reasoning_content", "refusal"),
  whole: { body: answer({ content: "Hello!" }), content: "Hello!", tokens: [16, 0, 34, 0] },
  stream: {
    body: events(first, chunk({ content: "Hel" }), chunk({ content: "lo!" }, "stop", { usage, p: "abcdefgh" }), done),
    content: "Hello!",
    tokens: [16, 0, 34, 0],
  },
  tools: {
    whole: answer({ tool_calls: [call] }, "tool_calls"),
    stream: events(first, chunk({ content: "", tool_calls: [call] }, "tool_calls", { usage }), done),
  },
  reasoning: {
    member: "reasoning_content",
    whole: answer({ content: [...thinking("2+2 is 4."), { type: "text", text: "4" }] }),
    stream: events(
      first,
      chunk({ content: thinking("2+2 ") }),
      chunk({ content: thinking("is 4.") }),
      chunk({ content: [{ type: "text", text: "4" }] }),
      chunk({ content: "" }, "stop", { usage }),
      done,
    ),
  },
  errors: [
    {
      what: "a member that it does not know",
      status: 422,
      body: JSON.stringify({
        object: "error",
        message: {
          detail: [
            {
              type: "extra_forbidden",
              loc: ["body", "messages", 0, "user", "cache_control"],
              msg: "Extra inputs are not permitted",
              input: "",
              url: "https://errors.pydantic.dev/2.6/v/extra_forbidden",
            },
          ],
        },
        type: "invalid_request_error",
        param: null,
        code: null,
      }),
      expected: {
        status: 400,
        code: "upstream_rejected",
        param: "messages[0].user.cache_control",
        message: /cache_control: Extra inputs are not permitted/,
      },
    },
    {
      what: "the same as its proxy tells it",
      status: 422,
      body: JSON.stringify({
        object: "error",
        message: '{"detail":[{"type":"extra_forbidden","loc":["body","frequency_penalty"],"msg":"Extra inputs"}]}',
        type: "internal_error_proxy",
        param: null,
        code: "1000",
      }),
      expected: { status: 400, code: "upstream_rejected", param: "frequency_penalty" },
    },
    {
      what: "the same in its older words",
      status: 422,
      body: JSON.stringify({ detail: [{ type: "extra_forbidden", loc: ["body", "store"], msg: "Extra inputs" }] }),
      expected: { status: 400, code: "upstream_rejected", param: "store" },
    },
    {
      what: "a prompt that is too long",
      status: 400,
      body: JSON.stringify({
        object: "error",
        message: "Prompt contains 40000 tokens, too large for model with 32768 maximum context length",
        type: "invalid_request_prompt",
        param: null,
        code: "3051",
      }),
      expected: { status: 400, code: "context_length_exceeded", param: "messages" },
    },
    {
      what: "a rate limit",
      status: 429,
      body: JSON.stringify({
        object: "error",
        message: "Service tier capacity exceeded for this model.",
        type: "service_tier_capacity_exceeded",
        param: null,
        code: "3505",
      }),
      expected: { status: 429, code: "rate_limit_exceeded" },
    },
    {
      what: "a wrong key",
      status: 401,
      body: JSON.stringify({ detail: "Unauthorized" }),
      expected: { status: 502, code: "bad_gateway", message: /^(?!.*Unauthorized)/ },
    },
  ],
};
