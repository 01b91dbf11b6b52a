import { expect } from "vitest";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import {
  chatChunks,
  createGate,
  errorBody,
  eventStream,
  hangBeforeHeaders,
  resetBeforeHeaders,
  wholeAnswer,
} from "../../../src/testing.js";
import type { ClientServer, ServerOptions } from "./start-server.js";

/** Holds more than a whole session: a second call is refused while the first one is in flight. */
export const smallStock: ServerOptions = {
  plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: 0.001 } } }),
};

/** How often each client sends a request that fails so, left to its defaults: 2 retries, 2 retries, 6 retries. */
interface Attempts {
  openai: number;
  aiSdk: number;
  langchain: number;
}

const once: Attempts = { openai: 1, aiSdk: 1, langchain: 1 };
const always: Attempts = { openai: 3, aiSdk: 3, langchain: 7 };

/** A request that fails before the first byte of its answer, and what the client is to get. */
export interface Failure {
  name: string;
  attempts: Attempts;
  status: number;
  code: string;
  type: string;
  param: string | null;
  message: RegExp;
  /** In seconds. Default: no such header. */
  retryAfter?: string;
  /** `x-should-retry`, which is `false` or absent. */
  shouldRetry?: "false";
  /** Default: the key of the pro plan. */
  key?: string;
  /** Default: `acme/small`. */
  model?: string;
  /** Further members of the request. */
  parameters?: Record<string, number>;
  headers?: Record<string, string>;
  prompt?: string;
  options?: ServerOptions;
  prepare?: (server: ClientServer) => void | Promise<void>;
}

const invalid = { type: "invalid_request_error", param: null, attempts: once };
const unavailable = { status: 502, code: "bad_gateway", type: "server_error", param: null, attempts: always };

export const failures: Failure[] = [
  {
    ...invalid,
    name: "a wrong key",
    status: 401,
    shouldRetry: "false",
    code: "invalid_api_key",
    key: "sk-wrong",
    message: /Incorrect API key/,
  },
  {
    ...invalid,
    name: "a model outside the plan",
    status: 403,
    shouldRetry: "false",
    code: "model_not_allowed",
    param: "model",
    key: "sk-basic",
    model: "acme/large",
    message: /does not include the model 'acme\/large'/,
  },
  {
    ...invalid,
    name: "an unknown model",
    status: 404,
    shouldRetry: "false",
    code: "model_not_found",
    param: "model",
    model: "acme/none",
    message: /'acme\/none' does not exist/,
  },
  {
    ...invalid,
    name: "a bad parameter",
    status: 400,
    code: "invalid_value",
    param: "max_completion_tokens",
    parameters: { max_completion_tokens: 0 },
    message: /at least 1/,
  },
  {
    ...invalid,
    name: "a parameter that the upstream refuses",
    status: 400,
    code: "unsupported_value",
    param: "temperature",
    message: /temperature of acme\/small/,
    prepare: ({ upstream }) =>
      upstream.reply(
        wholeAnswer(
          errorBody("The temperature of upstream-small is fixed.", { param: "temperature", code: "unsupported_value" }),
          { status: 422 },
        ),
      ),
  },
  {
    ...invalid,
    name: "too long a context",
    status: 400,
    code: "context_length_exceeded",
    param: "messages",
    message: /maximum context length/,
    prepare: ({ upstream }) =>
      upstream.reply(
        wholeAnswer(errorBody("This prompt exceeds the context window.", { code: "context_length_exceeded" }), {
          status: 400,
        }),
      ),
  },
  {
    ...invalid,
    name: "too large a body",
    status: 413,
    shouldRetry: "false",
    code: "request_too_large",
    prompt: "x".repeat(300_000),
    options: { maxBodyBytes: 100_000 },
    message: /larger than 100000 bytes/,
  },
  {
    ...invalid,
    name: "a content type that is not JSON",
    // LangChain takes a 415 for something that passes.
    attempts: { ...once, langchain: 7 },
    status: 415,
    shouldRetry: "false",
    code: "unsupported_content_type",
    headers: { "Content-Type": "text/plain" },
    message: /must be JSON/,
  },
  {
    ...invalid,
    name: "a compressed body",
    attempts: { ...once, langchain: 7 },
    status: 415,
    shouldRetry: "false",
    code: "unsupported_content_encoding",
    headers: { "Content-Encoding": "gzip" },
    message: /Compressed request bodies/,
  },
  {
    name: "a stock that is used up",
    // The AI SDK heeds neither header nor text.
    attempts: { ...once, aiSdk: 3 },
    status: 429,
    code: "week_limit_exceeded",
    type: "insufficient_quota",
    param: null,
    options: { plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { week: 0 } } }) },
    retryAfter: expect.stringMatching(/^[1-9]\d*$/),
    shouldRetry: "false",
    message: /Week usage quota exhausted: 0 of 0 credits used\. It will reset at /,
  },
  {
    name: "an upstream at its capacity",
    attempts: always,
    status: 429,
    code: "rate_limit_exceeded",
    type: "requests",
    param: null,
    retryAfter: "2",
    message: /at its capacity/,
    prepare: ({ upstream }) =>
      upstream.reply(
        wholeAnswer(errorBody("Slow down", { type: "requests", code: "rate_limit_exceeded" }), {
          status: 429,
          headers: { "retry-after": "2" },
        }),
      ),
  },
  {
    ...unavailable,
    name: "an upstream that fails",
    message: /did not answer/,
    prepare: ({ upstream }) => upstream.reply(wholeAnswer("<h1>Oops</h1>", { status: 500 })),
  },
  {
    ...unavailable,
    name: "an upstream that resets the connection",
    message: /did not answer/,
    prepare: ({ upstream }) => upstream.reply(resetBeforeHeaders()),
  },
  {
    ...unavailable,
    name: "an upstream that sends an error page with a 200",
    message: /did not answer/,
    prepare: ({ upstream }) => upstream.reply(wholeAnswer("<h1>Welcome</h1>")),
  },
  {
    ...unavailable,
    name: "an upstream that refuses our key",
    // Only openai heeds `x-should-retry`.
    attempts: { ...always, openai: 1 },
    shouldRetry: "false",
    message: /not available/,
    prepare: ({ upstream }) => upstream.reply(wholeAnswer(errorBody("Incorrect API key"), { status: 401 })),
  },
  {
    name: "a silent upstream",
    attempts: { ...always, openai: 1 },
    status: 504,
    code: "upstream_timeout",
    type: "server_error",
    param: null,
    options: { upstreamTimeouts: { firstByteTimeoutMs: 40 } },
    shouldRetry: "false",
    message: /did not answer in time/,
    prepare: ({ upstream }) => upstream.reply(hangBeforeHeaders()),
  },
  {
    name: "a gateway that is closed",
    attempts: always,
    status: 503,
    code: "service_unavailable",
    type: "service_unavailable_error",
    param: null,
    retryAfter: "5",
    message: /shutting down/,
    prepare: ({ gateway }) => gateway.close(),
  },
];

/** A stream that fails when its 200 is out, and the error that the client is to get then. */
export interface BrokenStream {
  name: string;
  /** What the client has got before. Default: "Hello". */
  text?: string;
  code: string;
  type: string;
  options?: ServerOptions;
  prepare: (server: ClientServer) => void;
  /** Called when the first word has come. */
  begun?: (server: ClientServer) => void;
}

const begin = chatChunks("Hello", { finishReason: null, usage: null });
const broken = { code: "bad_gateway", type: "server_error" };

export const brokenStreams: BrokenStream[] = [
  {
    ...broken,
    name: "by an error event",
    prepare: ({ upstream }) => upstream.reply(eventStream([...begin, errorBody("Boom", { type: "server_error" })])),
  },
  {
    ...broken,
    name: "by its end without a finish reason",
    prepare: ({ upstream }) => upstream.reply(eventStream(begin)),
  },
  {
    ...broken,
    name: "by the end of the connection",
    prepare: ({ upstream }) => upstream.reply(eventStream(begin, { end: "cut" })),
  },
  {
    ...broken,
    name: "by garbage",
    prepare: ({ upstream }) => upstream.reply(eventStream([...begin, "data: {not json\n\n"])),
  },
  {
    name: "by silence",
    code: "upstream_timeout",
    type: "server_error",
    options: { upstreamTimeouts: { idleTimeoutMs: 100 } },
    prepare: ({ upstream }) => upstream.reply(eventStream(begin, { end: "hang" })),
  },
  {
    name: "by the gateway's own end",
    code: "service_unavailable",
    type: "service_unavailable_error",
    prepare: ({ upstream }) => upstream.reply(eventStream(begin, { end: "hang" })),
    begun: ({ gateway }) => void gateway.close(),
  },
  {
    ...broken,
    name: "before its first word, when comments have passed",
    text: "",
    options: { keepAliveMs: 15 },
    prepare: ({ upstream, commented }) => {
      const gate = createGate();
      gate.step();
      upstream.reply(eventStream([errorBody("Boom", { type: "server_error" })], { gate }));
      void commented().then(() => gate.open());
    },
  },
];
