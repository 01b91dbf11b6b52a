import * as z from "zod";
import { explainOnce } from "../check/check-input.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { operationNames } from "../prices/operation-name.js";
import type { Dialect } from "../protocols/shared/dialect.js";
import type { ApiKeySource } from "./api-keys.js";
import { isHeaderName, isHeaderValue } from "./headers.js";
import type { TransportOptions } from "./transport/transport.js";
import type { OwnKeySource, UpstreamOperation } from "./upstream-provider.js";

/** Options of `openAICompatible`. */
export interface OpenAICompatibleOptions {
  /**
   * Where the API begins, such as `https://api.openai.com/v1`: the gateway appends `/chat/completions`, `/embeddings` or
   * `/responses`. Trailing slashes do not matter; a query such as `?api-version=2024-10-21` goes with every call. No
   * credentials in it: use `apiKey`.
   */
  baseURL: string;
  /**
   * Sent as `Authorization: Bearer …`. A function is called for every request, for tokens that expire. Absent,
   * `undefined` or empty: no such header is sent, which is right for most servers in your own network.
   *
   * Calls are spread over the keys of a list. A key that the server refuses, or finds at its limit, rests, and the call
   * is sent with another one, three at most.
   * @default undefined
   */
  apiKey?: string | readonly string[] | ApiKeySource | undefined;
  /**
   * Finds the own keys of accounts: `({ account }) => keysOf.get(account)`. A call with an own key goes to this provider with
   * that key, and costs `ownKeyPriceFactor` of its price, which is nothing by default. See `docs/own-keys.md`.
   * @default undefined: all calls use `apiKey`
   */
  ownKey?: OwnKeySource | undefined;
  /**
   * Further request headers; they replace the gateway's own of the same name, `Authorization` among them. Those that
   * belong to the connection (`Host`, `Content-Length`, `Accept-Encoding`, …) are refused.
   * @default {}
   */
  headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Sends the requests, in place of the built-in transport; for a runtime, proxy or test with its own. It has to honour
   * `signal` and `redirect: "manual"`.
   * @default undici's connection pool on Node, the global `fetch` elsewhere
   */
  fetch?: typeof globalThis.fetch | undefined;
  /**
   * The default of the three timeouts below, in milliseconds. It limits silence, never the length of a response.
   * @default each one's own default
   */
  timeoutMs?: number | undefined;
  /**
   * How long a connection may take to come up, in milliseconds. With `fetch` it counts as part of the first byte.
   * @default 10_000
   */
  connectTimeoutMs?: number | undefined;
  /**
   * How long the model may take until its response begins, in milliseconds, from the sending of the request. A whole
   * response begins when all of it is there.
   * @default 300_000
   */
  firstByteTimeoutMs?: number | undefined;
  /**
   * How long a response may pause in between, in milliseconds. Time in which the client is too slow does not count.
   * @default 300_000
   */
  idleTimeoutMs?: number | undefined;
  /**
   * The most connections to the model server, and so of calls at once; further calls wait, for `firstByteTimeoutMs` at
   * most. Not possible with `fetch`.
   * @default unlimited
   */
  maxConnections?: number | undefined;
  /**
   * What the server speaks. A request of the Responses API goes to a server with `responses` as it came; to one without
   * it, as a chat completion, whose response is translated back.
   * @default ["chat/completions", "embeddings"]
   */
  operations?: readonly UpstreamOperation[] | undefined;
  /**
   * How the server departs from OpenAI's API. The presets (`groq`, `mistral`, `ollama`, …) know it for their servers.
   * @default {}
   */
  dialect?: Dialect | undefined;
}

/** The options, checked and taken apart. */
export interface CheckedOpenAICompatibleOptions {
  /** Without a trailing slash. */
  basePath: string;
  /** Empty, or with a leading question mark. */
  query: string;
  /** A function, or at least one key; an empty one stands for none. */
  apiKey: readonly string[] | ApiKeySource;
  /** `undefined`: accounts have no keys of their own. */
  ownKey: OwnKeySource | undefined;
  /** Names in lower case. */
  headers: Record<string, string>;
  /** `undefined`: the default ones. */
  operations: readonly UpstreamOperation[] | undefined;
  /** `undefined`: it speaks as OpenAI does. */
  dialect: Dialect | undefined;
  transport: TransportOptions;
}

const defaultConnectTimeoutMs = 10_000;
const defaultFirstByteTimeoutMs = 300_000;
const defaultIdleTimeoutMs = 300_000;

/** Those of the connection, those that the transport sets, and the one that would bring compressed bytes. */
const refusedHeaders = new Set(
  "accept-encoding connection content-length expect host http2-settings keep-alive proxy-authenticate proxy-authorization proxy-connection te trailer transfer-encoding upgrade".split(
    " ",
  ),
);

const baseURL = z
  .string({ error: 'is required: the URL before "/chat/completions", such as "https://api.openai.com/v1"' })
  .superRefine((value, context) => {
    const problem = findURLProblem(value);
    if (problem) context.addIssue({ code: "custom", message: problem });
  });

const apiKey = z.custom<string | readonly string[] | ApiKeySource>().superRefine((value, context) => {
  const problem = findApiKeyProblem(value);
  if (problem) context.addIssue({ code: "custom", message: problem });
});

const headers = z.record(z.string(), z.string({ error: "must be a string" })).superRefine((record, context) => {
  const seen = new Set<string>();
  for (const [name, value] of Object.entries(record)) {
    const problem = findHeaderProblem(name, value) ?? (seen.has(name.toLowerCase()) ? "is given twice" : undefined);
    if (problem) context.addIssue({ code: "custom", message: problem, path: [name] });
    seen.add(name.toLowerCase());
  }
});

const operations = z.array(z.enum(operationNames)).nonempty({ error: "must name at least one operation" });

// The longest that setTimeout can do.
const milliseconds = z.number().int("must be whole milliseconds").positive().max(2_147_483_647);

const optionsSchema = z
  .strictObject({
    baseURL,
    apiKey: apiKey.optional(),
    ownKey: z.custom<OwnKeySource>((value) => typeof value === "function", "must be a function").optional(),
    headers: headers.optional(),
    fetch: z.custom<typeof globalThis.fetch>((value) => typeof value === "function", "must be a function").optional(),
    timeoutMs: milliseconds.optional(),
    connectTimeoutMs: milliseconds.optional(),
    firstByteTimeoutMs: milliseconds.optional(),
    idleTimeoutMs: milliseconds.optional(),
    maxConnections: z.number().int().positive().optional(),
    operations: operations.optional(),
    dialect: z.custom<Dialect>().superRefine(checkDialectOptions).optional(),
  })
  .refine(({ fetch, maxConnections }) => fetch === undefined || maxConnections === undefined, {
    error: "has no effect with fetch, which manages its own connections",
    path: ["maxConnections"],
  });

/**
 * @param factory - what the caller called.
 * @throws TypeError that says what to correct, and never contains a key.
 */
export function checkOpenAICompatibleOptions(
  options: OpenAICompatibleOptions,
  factory = "openAICompatible",
): CheckedOpenAICompatibleOptions {
  const result = optionsSchema.safeParse(options, explainOnce("option"));
  if (!result.success) {
    throw new TypeError(listProblems(`${factory}: the options are not valid`, problemsOf(result.error)));
  }
  const { data } = result;
  const url = new URL(data.baseURL);
  return {
    basePath: url.pathname.replace(/\/+$/, ""),
    query: url.search,
    apiKey: toKeys(data.apiKey),
    ownKey: data.ownKey,
    headers: Object.fromEntries(Object.entries(data.headers ?? {}).map(([name, value]) => [name.toLowerCase(), value])),
    operations: data.operations,
    dialect: data.dialect,
    transport: {
      origin: url.origin,
      connectTimeoutMs: data.connectTimeoutMs ?? data.timeoutMs ?? defaultConnectTimeoutMs,
      firstByteTimeoutMs: data.firstByteTimeoutMs ?? data.timeoutMs ?? defaultFirstByteTimeoutMs,
      idleTimeoutMs: data.idleTimeoutMs ?? data.timeoutMs ?? defaultIdleTimeoutMs,
      maxConnections: data.maxConnections,
      fetch: data.fetch,
    },
  };
}

/** Does not repeat the URL: there may be credentials in it. */
function findURLProblem(value: string): string | undefined {
  if (!URL.canParse(value)) return 'is not a URL: it should look like "https://api.openai.com/v1"';
  const url = new URL(value);
  if (url.protocol !== "http:" && url.protocol !== "https:") return "must begin with http:// or https://";
  if (url.username !== "" || url.password !== "")
    return "must not contain credentials: pass them as apiKey or in headers";
  if (url.href.includes("#")) return "must not contain a hash (#…)";
  if (/\/(chat\/completions|completions|embeddings|responses|models)\/*$/.test(url.pathname))
    return 'must end before the endpoint, as in "https://api.openai.com/v1": "/chat/completions" is appended to it';
  return undefined;
}

function findApiKeyProblem(value: unknown): string | undefined {
  if (typeof value === "function") return undefined;
  if (Array.isArray(value)) return findKeyListProblem(value);
  if (typeof value !== "string") return "must be a string, a list of strings, or a function that returns one of them";
  if (isHeaderValue(value)) return undefined;
  return "does not fit into a header: look for line breaks, outer spaces and non-ASCII characters";
}

const mostKeys = 100;

function findKeyListProblem(keys: readonly unknown[]): string | undefined {
  if (keys.length === 0 || keys.length > mostKeys) return `must hold 1 to ${mostKeys} keys`;
  if (keys.includes("")) return "must not hold an empty key";
  if (new Set(keys).size < keys.length) return "must not hold a key twice";
  return keys.map((key) => (Array.isArray(key) ? "must not be nested" : findApiKeyProblem(key))).find(Boolean);
}

function toKeys(apiKey: OpenAICompatibleOptions["apiKey"] = ""): readonly string[] | ApiKeySource {
  return typeof apiKey === "string" ? [apiKey] : apiKey;
}

function findHeaderProblem(name: string, value: string): string | undefined {
  if (!isHeaderName(name)) return "is not a valid header name";
  if (refusedHeaders.has(name.toLowerCase())) return "belongs to the connection and cannot be set";
  if (!isHeaderValue(value))
    return "has a value that does not fit into a header: look for line breaks and non-ASCII characters";
  return undefined;
}

const memberNames = (kept: readonly string[]) =>
  z.array(z.string().refine((name) => !kept.includes(name), { error: `must not be one of ${kept.join(", ")}` }));

const dialectSchema: z.ZodType<Dialect> = z.strictObject({
  capName: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
  developerRole: z.enum(["system", "user"]).optional(),
  laterSystemRole: z.literal("user").optional(),
  renamed: z.record(memberName(), memberName()).optional(),
  dropped: memberNames(["model", "messages", "input", "stream"]).optional(),
  strictMembers: z.boolean().optional(),
  restricted: z
    .record(memberName().max(64, "must have at most 64 characters"), z.enum(["pass", "drop", "refuse"]))
    .refine(({ tools }) => tools !== "drop", { error: 'can be "pass" or "refuse"', path: ["tools"] })
    .optional(),
  droppedFromMessages: memberNames(["role", "content"]).optional(),
  usagePerChoice: z.boolean().optional(),
  finishReason: z.enum(["optional", "required"]).optional(),
  hiddenUsage: memberNames(["prompt_tokens", "completion_tokens", "total_tokens"]).optional(),
  imageFormat: z.enum(["b64_json", "url", "none"]).optional(),
  transcriptFormats: z.array(z.string()).readonly().optional(),
  timedTranscripts: z.enum(["json", "verbose_json"]).optional(),
  transcriptStream: z.strictObject({ fields: z.record(memberName(), z.string()) }).optional(),
  speechEvents: z.boolean().optional(),
  rerank: z.enum(["cohere", "jina", "voyage", "tei"]).optional(),
  keyHeader: z
    .string()
    .refine((name) => isHeaderName(name) && name === name.toLowerCase(), {
      error: 'must be the name of a header in lower case, such as "api-key"',
    })
    .optional(),
  deploymentPaths: z.boolean().optional(),
  readError: z
    .custom<NonNullable<Dialect["readError"]>>((value) => typeof value === "function", "must be a function")
    .optional(),
});

/** Reports what is wrong with a dialect. */
function checkDialectOptions(dialect: unknown, context: z.RefinementCtx): void {
  const result = dialectSchema.safeParse(dialect, explainOnce("option"));
  for (const issue of result.error?.issues ?? []) {
    context.addIssue({ code: "custom", message: issue.message, path: [...issue.path] });
  }
}

function memberName() {
  const kept = ["model", "messages", "input", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n"];
  return z.string().refine((name) => !kept.includes(name), { error: "is the gateway's own: it cannot be changed" });
}
