import { llamaCpp, ollama, vLLM } from "../../../../src/providers/local-presets.js";
import { type DialectSample, done, events, messagesWithout } from "./dialect-sample.js";

const usage = { prompt_tokens: 21, completion_tokens: 8, total_tokens: 29 };

const common = {
  path: "/v1/chat/completions",
  key: { authorization: "Bearer sk-upstream" },
  received: { max_tokens: 40, max_completion_tokens: undefined, logprobs: true },
  messages: messagesWithout(),
};

interface Style {
  head: { id: string; created: number; model: string };
  /** Members of every message, choice, chunk and delta that this server adds. */
  message?: object;
  choice?: object;
  answer?: object;
  firstDelta: object;
}

function shapes({ head, message, choice, answer, firstDelta }: Style) {
  const whole = (content: object, finish = "stop") =>
    JSON.stringify({
      ...head,
      object: "chat.completion",
      ...answer,
      choices: [{ index: 0, message: { role: "assistant", ...message, ...content }, finish_reason: finish, ...choice }],
      usage,
    });
  const chunk = (delta: object, finish: string | null = null) => ({
    ...head,
    object: "chat.completion.chunk",
    choices: [{ index: 0, delta, finish_reason: finish }],
  });
  const first = chunk(firstDelta);
  const last = { ...head, object: "chat.completion.chunk", choices: [], usage };
  return { whole, chunk, first, last };
}

const ollamaShapes = shapes({
  head: { id: "chatcmpl-741", created: 1745326301, model: "qwen3:8b" },
  answer: { system_fingerprint: "fp_ollama" },
  firstDelta: { role: "assistant", content: "" },
});
const ollamaCall = {
  id: "call_zgrq5jd9",
  index: 0,
  type: "function",
  function: { name: "get_weather", arguments: '{"city":"Paris"}' },
};

export const ollamaSample: DialectSample = {
  ...common,
  name: "ollama",
  make: (origin) => ollama({ baseURL: `${origin}/v1`, apiKey: "sk-upstream" }),
  whole: { body: ollamaShapes.whole({ content: "Hello!" }), content: "Hello!", tokens: [21, 0, 8, 0] },
  stream: {
    body: events(
      ollamaShapes.chunk({ role: "assistant", content: "Hel" }),
      ollamaShapes.chunk({ role: "assistant", content: "lo!" }),
      ollamaShapes.chunk({ role: "assistant", content: "" }, "stop"),
      ollamaShapes.last,
      done,
    ),
    content: "Hello!",
    tokens: [21, 0, 8, 0],
  },
  tools: {
    whole: ollamaShapes.whole({ content: "", tool_calls: [ollamaCall] }, "tool_calls"),
    stream: events(
      ollamaShapes.chunk({ role: "assistant", content: "", tool_calls: [ollamaCall] }),
      ollamaShapes.chunk({ role: "assistant", content: "" }, "tool_calls"),
      ollamaShapes.last,
      done,
    ),
  },
  reasoning: {
    member: "reasoning",
    whole: ollamaShapes.whole({ content: "4", reasoning: "2+2 is 4." }),
    stream: events(
      ollamaShapes.chunk({ role: "assistant", content: "", reasoning: "2+2 " }),
      ollamaShapes.chunk({ role: "assistant", content: "", reasoning: "is 4." }),
      ollamaShapes.chunk({ role: "assistant", content: "4" }),
      ollamaShapes.chunk({ role: "assistant", content: "" }, "stop"),
      ollamaShapes.last,
      done,
    ),
  },
  errors: [
    {
      what: "a model that was not pulled",
      status: 404,
      body: '{"error":{"message":"model \\"qwen3:8b\\" not found, try pulling it first","type":"api_error","param":null,"code":null}}',
      expected: { status: 502, code: "bad_gateway", message: /^(?!.*pulling)/ },
    },
    {
      what: "a model without tools",
      status: 400,
      body: '{"error":{"message":"registry.ollama.ai/library/gemma:2b does not support tools","type":"api_error","param":null,"code":null}}',
      expected: { status: 400, code: "upstream_rejected", message: /^(?!.*ollama).*does not support tools/ },
    },
  ],
};

const vllmShapes = shapes({
  head: { id: "chatcmpl-5a0f3d1c8b8e4c9f", created: 1756212345, model: "Qwen/Qwen3-8B" },
  message: {
    content: null,
    refusal: null,
    annotations: null,
    audio: null,
    function_call: null,
    tool_calls: [],
    reasoning_content: null,
  },
  choice: { logprobs: null, stop_reason: null, token_ids: null },
  answer: { service_tier: null, system_fingerprint: null, prompt_logprobs: null, kv_transfer_params: null },
  firstDelta: { role: "assistant", content: "" },
});

export const vllmSample: DialectSample = {
  ...common,
  name: "vLLM",
  make: (origin) => vLLM({ baseURL: `${origin}/v1`, apiKey: "sk-upstream" }),
  whole: { body: vllmShapes.whole({ content: "Hello!" }), content: "Hello!", tokens: [21, 0, 8, 0] },
  stream: {
    body: events(
      vllmShapes.first,
      // With `continuous_usage_stats` every chunk counts so far.
      { ...vllmShapes.chunk({ content: "Hel" }), usage: { prompt_tokens: 21, completion_tokens: 4, total_tokens: 25 } },
      { ...vllmShapes.chunk({ content: "lo!" }), usage },
      vllmShapes.chunk({ content: "" }, "stop"),
      vllmShapes.last,
      done,
    ),
    content: "Hello!",
    tokens: [21, 0, 8, 0],
  },
  tools: {
    whole: vllmShapes.whole(
      {
        tool_calls: [
          {
            id: "chatcmpl-tool-6e1d",
            type: "function",
            function: { name: "get_weather", arguments: '{"city":"Paris"}' },
          },
        ],
      },
      "tool_calls",
    ),
    stream: events(
      vllmShapes.first,
      vllmShapes.chunk({
        tool_calls: [{ id: "chatcmpl-tool-6e1d", type: "function", index: 0, function: { name: "get_weather" } }],
      }),
      vllmShapes.chunk({ tool_calls: [{ index: 0, function: { arguments: '{"city":"Paris"}' } }] }),
      vllmShapes.chunk({ content: "" }, "tool_calls"),
      vllmShapes.last,
      done,
    ),
  },
  reasoning: {
    member: "reasoning_content",
    whole: vllmShapes.whole({ content: "4", reasoning_content: "2+2 is 4." }),
    stream: events(
      vllmShapes.first,
      vllmShapes.chunk({ reasoning_content: "2+2 " }),
      vllmShapes.chunk({ reasoning_content: "is 4." }),
      vllmShapes.chunk({ content: "4" }),
      vllmShapes.chunk({ content: "" }, "stop"),
      vllmShapes.last,
      done,
    ),
  },
  errors: [
    {
      what: "a prompt that is too long, in its older words",
      status: 400,
      body: JSON.stringify({
        object: "error",
        message: "This model's maximum context length is 4096 tokens. However, you requested 5000 tokens.",
        type: "BadRequestError",
        param: null,
        code: 400,
      }),
      expected: { status: 400, code: "context_length_exceeded", param: "messages" },
    },
    {
      what: "a template that knows no such role",
      status: 400,
      body: JSON.stringify({
        error: { message: "Unexpected message role.", type: "BadRequestError", param: null, code: 400 },
      }),
      expected: { status: 400, code: "upstream_rejected", message: /Unexpected message role/ },
    },
    {
      what: "an error in a stream, in its older words",
      status: 200,
      inStream: true,
      body: events(
        vllmShapes.first,
        vllmShapes.chunk({ content: "Hel" }),
        { object: "error", message: "list index out of range", type: "BadRequestError", param: null, code: 400 },
        done,
      ),
      expected: { code: "upstream_rejected" },
    },
  ],
};

const llamaShapes = shapes({
  head: { id: "chatcmpl-XJ1Vb8nW3pQbN5s7Ud", created: 1741940000, model: "gpt-3.5-turbo" },
  answer: { system_fingerprint: "b4879-f08f4b31", timings: { prompt_n: 21, predicted_n: 8 } },
  firstDelta: { role: "assistant", content: null },
});

export const llamaCppSample: DialectSample = {
  ...common,
  name: "llamaCpp",
  make: (origin) => llamaCpp({ baseURL: `${origin}/v1`, apiKey: "sk-upstream" }),
  whole: { body: llamaShapes.whole({ content: "Hello!" }), content: "Hello!", tokens: [21, 0, 8, 0] },
  stream: {
    body: events(
      llamaShapes.first,
      llamaShapes.chunk({ content: "Hel" }),
      llamaShapes.chunk({ content: "lo!" }),
      llamaShapes.chunk({}, "stop"),
      { ...llamaShapes.last, timings: { prompt_n: 21, predicted_n: 8 } },
      done,
    ),
    content: "Hello!",
    tokens: [21, 0, 8, 0],
  },
  tools: {
    whole: llamaShapes.whole(
      {
        content: null,
        tool_calls: [
          { type: "function", function: { name: "get_weather", arguments: '{"city":"Paris"}' }, id: "sVbDqGXK" },
        ],
      },
      "tool_calls",
    ),
    stream: events(
      llamaShapes.first,
      llamaShapes.chunk({
        tool_calls: [
          { index: 0, id: "sVbDqGXK", type: "function", function: { name: "get_weather", arguments: '{"city":' } },
        ],
      }),
      llamaShapes.chunk({ tool_calls: [{ index: 0, function: { arguments: '"Paris"}' } }] }),
      llamaShapes.chunk({}, "tool_calls"),
      llamaShapes.last,
      done,
    ),
  },
  reasoning: {
    member: "reasoning_content",
    whole: llamaShapes.whole({ content: "4", reasoning_content: "2+2 is 4." }),
    stream: events(
      llamaShapes.first,
      llamaShapes.chunk({ reasoning_content: "2+2 " }),
      llamaShapes.chunk({ reasoning_content: "is 4." }),
      llamaShapes.chunk({ content: "4" }),
      llamaShapes.chunk({}, "stop"),
      llamaShapes.last,
      done,
    ),
  },
  errors: [
    ...[400, 500, 200].map((status) => ({
      what: `a prompt that is too long, as a ${status}`,
      status,
      body: JSON.stringify({
        error: {
          code: 400,
          message:
            "the request exceeds the available context size. try increasing the context size or enable context shift",
          type: "exceed_context_size_error",
          n_prompt_tokens: 14429,
          n_ctx: 8192,
        },
      }),
      expected: { status: 400, code: "context_length_exceeded", param: "messages", message: /maximum context length/ },
    })),
    ...[
      "Failed to parse tools: Missing tool type: {}; tools = [\n  {}\n]",
      "Failed to parse messages: Missing tool call type: {}",
      "Unknown reasoning format: x",
      "Cannot use both json_schema and grammar",
      "image input is not supported - hint: if this is unexpected, you may need to provide the mmproj",
    ].map((message) => ({
      what: `a request that is refused as a failure: ${message.slice(0, 24)}`,
      status: 500,
      body: JSON.stringify({ error: { code: 500, message, type: "server_error" } }),
      expected: { status: 400, code: "upstream_rejected", message: new RegExp(message.slice(0, 15)) },
    })),
    {
      what: "a model that is still being loaded",
      status: 503,
      body: JSON.stringify({ error: { code: 503, message: "Loading model", type: "unavailable_error" } }),
      expected: { status: 502, code: "bad_gateway" },
    },
  ],
};
