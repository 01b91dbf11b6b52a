import { azureOpenAI } from "../../../../src/providers/azure-openai.js";
import { type DialectSample, done, events, fullRequest } from "./dialect-sample.js";

const safe = { filtered: false, severity: "safe" };
const filters = { hate: safe, self_harm: safe, sexual: safe, violence: safe };
const usage = {
  prompt_tokens: 18,
  completion_tokens: 9,
  total_tokens: 27,
  prompt_tokens_details: { audio_tokens: 0, cached_tokens: 2 },
  completion_tokens_details: { audio_tokens: 0, reasoning_tokens: 0 },
};
const head = { id: "chatcmpl-AnhIt2rw8vL8czymkCwEOKKTg7HPc", created: 1736407895, model: "gpt-4o-mini-2024-07-18" };
const answer = (message: object, finish = "stop") =>
  JSON.stringify({
    choices: [
      {
        content_filter_results: filters,
        finish_reason: finish,
        index: 0,
        logprobs: null,
        message: { content: null, refusal: null, role: "assistant", ...message },
      },
    ],
    ...head,
    object: "chat.completion",
    prompt_filter_results: [{ prompt_index: 0, content_filter_results: filters }],
    system_fingerprint: "fp_5154047bf2",
    usage,
  });
const chunk = (delta: object, finish: string | null = null) => ({
  choices: [{ content_filter_results: {}, delta, finish_reason: finish, index: 0, logprobs: null }],
  ...head,
  object: "chat.completion.chunk",
  system_fingerprint: "fp_5154047bf2",
});
/** Comes first, without id, date or model. */
const promptFilter = {
  choices: [],
  created: 0,
  id: "",
  model: "",
  object: "",
  prompt_filter_results: [{ prompt_index: 0, content_filter_results: filters }],
};
/** Comes between the others where the filter works asynchronously, without a delta. */
const filtered = {
  id: "",
  object: "",
  created: 0,
  model: "",
  choices: [
    {
      index: 0,
      finish_reason: null,
      content_filter_results: filters,
      content_filter_offsets: { check_offset: 44, start_offset: 44, end_offset: 198 },
    },
  ],
  usage: null,
};
const last = { choices: [], ...head, object: "chat.completion.chunk", usage };
const call = { id: "call_tM2rk", type: "function" };

const sample: Omit<DialectSample, "name" | "make" | "path" | "received"> = {
  key: { "api-key": "sk-upstream" },
  messages: fullRequest.messages,
  whole: { body: answer({ content: "Hello!" }), content: "Hello!", tokens: [18, 2, 9, 0] },
  stream: {
    body: events(
      promptFilter,
      chunk({ content: "", refusal: null, role: "assistant" }),
      chunk({ content: "Hel" }),
      filtered,
      chunk({ content: "lo!" }),
      chunk({}, "stop"),
      last,
      done,
    ),
    content: "Hello!",
    tokens: [18, 2, 9, 0],
  },
  tools: {
    whole: answer(
      { tool_calls: [{ ...call, function: { arguments: '{"city":"Paris"}', name: "get_weather" } }] },
      "tool_calls",
    ),
    stream: events(
      promptFilter,
      chunk({
        content: null,
        role: "assistant",
        tool_calls: [{ ...call, index: 0, function: { arguments: "", name: "get_weather" } }],
      }),
      chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Paris"}' } }] }),
      chunk({}, "tool_calls"),
      last,
      done,
    ),
  },
  errors: [
    {
      what: "a prompt that the filter caught",
      status: 400,
      body: JSON.stringify({
        error: {
          message: "The response was filtered due to the prompt triggering Azure OpenAI's content management policy.",
          type: null,
          param: "prompt",
          code: "content_filter",
          status: 400,
          innererror: { code: "ResponsibleAIPolicyViolation", content_filter_result: filters },
        },
      }),
      expected: { status: 400, code: "content_filter", param: "messages" },
    },
    {
      what: "a deployment that is not there",
      status: 404,
      body: JSON.stringify({
        error: { code: "DeploymentNotFound", message: "The API deployment for this resource does not exist." },
      }),
      expected: { status: 502, code: "bad_gateway" },
    },
    {
      what: "a deployment that is none for chat",
      status: 400,
      body: JSON.stringify({
        error: { code: "OperationNotSupported", message: "The chatCompletion operation does not work with the model." },
      }),
      expected: { status: 502, code: "bad_gateway" },
    },
    {
      what: "a wrong key",
      status: 401,
      body: JSON.stringify({
        error: { code: "401", message: "Access denied due to invalid subscription key or wrong API endpoint." },
      }),
      expected: { status: 502, code: "bad_gateway", message: /^(?!.*subscription)/ },
    },
    {
      what: "a rate limit",
      status: 429,
      headers: { "retry-after": "86400" },
      body: JSON.stringify({
        error: {
          code: "429",
          message:
            "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current OpenAI S0 pricing tier.",
        },
      }),
      expected: { status: 429, code: "rate_limit_exceeded", message: /^(?!.*tier)/ },
    },
  ],
};

export const azureSample: DialectSample = {
  ...sample,
  name: "azureOpenAI",
  make: (origin) => azureOpenAI({ baseURL: `${origin}/`, apiKey: "sk-upstream" }),
  path: "/openai/v1/chat/completions",
  received: { max_completion_tokens: 40, max_tokens: undefined, logprobs: true },
};

export const azureDatedSample: DialectSample = {
  ...sample,
  name: "azureOpenAI with an apiVersion",
  make: (origin) => azureOpenAI({ baseURL: `${origin}/openai`, apiKey: () => "sk-upstream", apiVersion: "2024-10-21" }),
  path: "/openai/deployments/upstream-small/chat/completions?api-version=2024-10-21",
  received: { max_completion_tokens: 50, max_tokens: 40, logprobs: true },
};
