import { z } from "zod";
import { reservedRecordMembers } from "../endpoints/models.js";
import type { KeyStore } from "../keys/key-store.js";
import type { Clock } from "../ledger/clock.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { Price } from "../ledger/price.js";
import type { CorsOptions } from "../pipeline/cors.js";
import type { RequestCompleted } from "../pipeline/request-completed.js";
import type { GatewayWarning } from "../pipeline/warning.js";
import type { PlanStore } from "../plans/plan-store.js";
import type { UpstreamProvider } from "../providers/upstream-provider.js";
import { closestName } from "./closest-name.js";

/** A model of the catalog. */
export interface Model {
  /** What clients send as `model`, and what they find in the list; may hold slashes: `acme/small`. */
  id: string;
  /** Which endpoint the model is for: chat completions or embeddings. */
  type: "chat" | "embedding";
  /** Who made the model. Default: absent on the wire. */
  publisher?: string | undefined;
  /** Tokens that the model accepts in one request, question and answer together. */
  contextLength: number;
  /** The longest answer in tokens; a larger `max_tokens` is cut down to it. Default: bounded by `contextLength` only. */
  maxOutputTokens?: number | undefined;
  /** What the model can do; known are `reasoning` and `tools`. Default: `{}`. */
  capabilities?: Readonly<Record<string, unknown>> | undefined;
  /** What it costs. A model whose prices are all zero is free: it works on an exhausted account. */
  price: Price;
  /** Where its calls go: a name in {@link GatewayOptions.providers}, and the upstream's name for the model. */
  upstream: { provider: string; model: string };
  /** Further members of the model record. Cannot replace those that the gateway sets. */
  extra?: Readonly<Record<string, unknown>> | undefined;
}

/** Everything that a gateway is made of. */
export interface GatewayOptions {
  /** The catalog, in the order in which models are listed. */
  models: readonly Model[];
  /** Finds API keys. */
  keys: KeyStore;
  /** Finds plans. */
  plans: PlanStore;
  /** Keeps the accounts' stocks of credits. */
  ledger: CreditLedger;
  /** The model servers, by the names that {@link Model.upstream} uses. */
  providers: Readonly<Record<string, UpstreamProvider>>;
  /**
   * The path under which the gateway is mounted, such as `/api/ai`, where the host does not strip it: Next.js,
   * `node:http`, Hono. Express and Fastify prefixes work without it. Default: `""`, the root.
   */
  basePath?: string | undefined;
  /** The largest request body in bytes; beyond it a 413. Default: 32 MiB. */
  maxBodyBytes?: number | undefined;
  /** How deep a request body may be nested; beyond it a 400. Default: 256. */
  maxBodyDepth?: number | undefined;
  /** How long a request body may take to arrive, in milliseconds; beyond it a 408. Default: 30,000. */
  bodyTimeoutMs?: number | undefined;
  /** The largest whole answer of an upstream in bytes; beyond it a 502. Default: 64 MiB. */
  maxAnswerBytes?: number | undefined;
  /** The largest event of an upstream's stream in bytes; beyond it the stream fails. Default: 16 MiB. */
  maxEventBytes?: number | undefined;
  /**
   * After this much silence, in milliseconds, a stream gets a comment, so that proxies on the way do not cut it. Also the
   * longest that the status of a stream is held back while its first event is awaited. Default: 10,000.
   */
  keepAliveMs?: number | undefined;
  /** How long {@link Gateway.close} lets open answers finish, in milliseconds. Default: 10,000. */
  closeGraceMs?: number | undefined;
  /** How long a crashed process can block the stock it held, in milliseconds, 1 s to 15 min. Default: 60,000. */
  leaseMs?: number | undefined;
  /**
   * How long found keys and plans are used without asking their store again, in milliseconds; 0: not at all.
   * A revocation takes effect at most this much later. Default: 10,000.
   */
  cacheTtlMs?: number | undefined;
  /** How long it is remembered that a key or a plan does not exist, in milliseconds; 0: not at all. Default: 5,000. */
  negativeCacheTtlMs?: number | undefined;
  /** The most keys, and the most absent ones, to remember. Default: 10,000. */
  maxCacheEntries?: number | undefined;
  /** Lets web pages call the gateway: `true` for all, or those of some origins. Default: `false`, no CORS headers. */
  cors?: CorsOptions | false | undefined;
  /** Where the time comes from, for tests. Default: the system's clock. */
  clock?: Clock | undefined;
  /** Called once per request, when its answer has ended. A hook that throws harms nothing but gets a warning. */
  onRequestCompleted?: ((event: RequestCompleted) => void) | undefined;
  /** Called when something needs the operator's attention. Default: `console.warn`. */
  onWarning?: ((warning: GatewayWarning) => void) | undefined;
}

const name = z.string().min(1, "must not be empty");
const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: 'must be an origin: a scheme and a host without a path, such as "https://app.example.com"',
});
const milliseconds = z.number().int().positive();
const count = z.number().int().positive();
const amount = z.number().nonnegative();
const isFunction = (value: unknown): boolean => typeof value === "function";

function having<Type>(what: string, methods: readonly (keyof Type & string)[]): z.ZodType<Type> {
  return z.custom<Type>(
    (value) =>
      ((typeof value === "object" && value !== null && !Array.isArray(value)) || isFunction(value)) &&
      methods.every((method) => isFunction((value as Record<string, unknown>)[method])),
    `must be ${what}; it needs the ${methods.length === 1 ? "method" : "methods"} ${methods.join(", ")}`,
  );
}

const priceSchema = z.strictObject({
  input: amount,
  cachedInput: amount.optional(),
  output: amount.optional(),
  reasoning: amount.optional(),
  request: amount.optional(),
});

const modelSchema = z.strictObject({
  id: name.refine((id) => !/[\s*?#]/.test(id) && !id.startsWith("/") && !id.endsWith("/"), {
    error: "must hold no white space, *, ? or #, and no slash at either end",
  }),
  type: z.enum(["chat", "embedding"]),
  publisher: name.optional(),
  contextLength: count,
  maxOutputTokens: count.optional(),
  capabilities: z.record(z.string(), z.unknown()).optional(),
  price: priceSchema,
  upstream: z.strictObject({ provider: name, model: name }),
  extra: z
    .record(z.string(), z.unknown())
    .refine((extra) => !reservedRecordMembers.some((member) => member in extra), {
      error: `must not set what the gateway sets: ${reservedRecordMembers.join(", ")}`,
    })
    .optional(),
});

const optionsSchema = z.strictObject({
  models: z.array(modelSchema),
  keys: having<KeyStore>("a key store, such as memoryKeyStore([…])", ["find"]),
  plans: having<PlanStore>("a plan store, such as memoryPlanStore({…})", ["find"]),
  ledger: having<CreditLedger>("a credit ledger, such as memoryCreditLedger()", [
    "reserve",
    "renew",
    "settle",
    "release",
  ]),
  providers: z.record(z.string(), having<UpstreamProvider>("a provider, such as openAICompatible({…})", ["call"])),
  basePath: z
    .string()
    .refine((path) => path === "" || /^\/[^?#]*$/.test(path), { error: 'must start with a slash, such as "/api/ai"' })
    .transform((path) => path.replace(/\/+$/, ""))
    .default(""),
  maxBodyBytes: count.default(32 * 1024 * 1024),
  maxBodyDepth: count.max(5000).default(256),
  bodyTimeoutMs: milliseconds.default(30_000),
  maxAnswerBytes: count.default(64 * 1024 * 1024),
  maxEventBytes: count.default(16 * 1024 * 1024),
  keepAliveMs: milliseconds.default(10_000),
  closeGraceMs: z.number().int().nonnegative().default(10_000),
  leaseMs: z.number().int().min(1000).max(900_000).default(60_000),
  cacheTtlMs: z.number().int().nonnegative().default(10_000),
  negativeCacheTtlMs: z.number().int().nonnegative().default(5_000),
  maxCacheEntries: count.default(10_000),
  cors: z
    .union([z.boolean(), z.strictObject({ origins: z.array(origin).readonly() })], {
      error: 'must be true, false or { origins: ["https://app.example.com"] }',
    })
    .transform((cors) => (cors === false ? undefined : cors))
    .optional(),
  clock: having<Clock>("a clock", ["now"]).optional(),
  onRequestCompleted: z.custom<(event: RequestCompleted) => void>(isFunction, "must be a function").optional(),
  onWarning: z.custom<(warning: GatewayWarning) => void>(isFunction, "must be a function").optional(),
});

export type ResolvedOptions = z.output<typeof optionsSchema>;

/**
 * Checks the options and fills in the defaults.
 * @throws TypeError that lists what to fix. Values are not repeated in it: they may be secret.
 */
export function resolveOptions(options: GatewayOptions): ResolvedOptions {
  const result = optionsSchema.safeParse(options);
  if (!result.success)
    throw new TypeError(`createGateway: the options are not valid.\n${z.prettifyError(withHints(result.error))}`);
  const problems = findContradictions(result.data);
  if (problems.length > 0) {
    throw new TypeError(`createGateway: the options are not valid.\n${problems.map((text) => `✖ ${text}`).join("\n")}`);
  }
  return result.data;
}

/** Names the option that was probably meant by one that is unknown. */
function withHints(error: z.ZodError): z.ZodError {
  const known = Object.keys(optionsSchema.shape);
  return new z.ZodError(
    error.issues.map((issue) => {
      if (issue.code !== "unrecognized_keys" || issue.path.length > 0) return issue;
      const hints = issue.keys.map((key) => {
        const meant = closestName(key, known);
        return meant === undefined ? `\`${key}\`` : `\`${key}\` (did you mean \`${meant}\`?)`;
      });
      return { ...issue, message: `There is no option ${hints.join(", ")}` };
    }),
  );
}

function findContradictions({ models, providers }: ResolvedOptions): string[] {
  const problems: string[] = [];
  const known = Object.keys(providers);
  const seen = new Set<string>();
  for (const { id, type, price, upstream, contextLength, maxOutputTokens } of models) {
    if (type === "chat" && price.output === undefined) problems.push(`The model "${id}" has no price.output.`);
    if (seen.has(id)) problems.push(`The model "${id}" appears twice. Ids must be unique.`);
    seen.add(id);
    if (!known.includes(upstream.provider)) {
      problems.push(
        `The model "${id}" names the provider "${upstream.provider}", which is not in \`providers\`. ` +
          (known.length === 0 ? "There are none." : `There are: ${known.map((text) => `"${text}"`).join(", ")}.`),
      );
    }
    if (maxOutputTokens !== undefined && maxOutputTokens > contextLength) {
      problems.push(`The model "${id}" has a maxOutputTokens larger than its contextLength.`);
    }
  }
  return problems;
}
