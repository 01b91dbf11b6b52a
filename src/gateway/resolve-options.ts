import * as z from "zod";
import type { AuditTrail } from "../audit/audit-trail.js";
import { explainOnce } from "../check/check-input.js";
import { countableCredits } from "../check/limit-schemas.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { having } from "../check/text-schemas.js";
import type { RequestCompleted } from "../events/request-completed.js";
import type { GatewayWarning } from "../events/warning.js";
import type { OnRequest } from "../hooks/admission.js";
import type { RefusalMessages } from "../hooks/refusal-messages.js";
import { responseGuardsSchema } from "../hooks/response-guard.js";
import type { RequestHead, WaitUntil } from "../http/message.js";
import type { Clock } from "../ledger/calendar.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { LedgerEvent } from "../ledger/guard/ledger-event.js";
import { deepestBody } from "../protocols/shared/json-request.js";
import type { AccountStore } from "../records/accounts/account-store.js";
import type { BudgetStore } from "../records/budgets/budget-store.js";
import type { KeyStore } from "../records/keys/key-store.js";
import { managedPrefix } from "../records/keys/managed-key.js";
import type { ModelStore } from "../records/models/model-store.js";
import type { PlanStore } from "../records/plans/plan-store.js";
import type { ResponseStore } from "../responses/response-store.js";
import { isIsolate } from "../runtime/runtime.js";
import { type Identify, sessionProblems } from "./identity/identity.js";
import { catalogProblems } from "./models/catalog-problems.js";
import { catalogShape } from "./models/model-schema.js";
import type { Observer } from "./observers/observer.js";
import type { GatewayOptions } from "./options.js";
import { requestLogSchema } from "./request-log/request-log-options.js";
import { type OnThreshold, thresholdsSchema } from "./thresholds.js";

const origin = z.string().refine((text) => URL.canParse(text) && new URL(text).origin === text, {
  error: 'must be an origin: a scheme and a host without a path, such as "https://app.example.com"',
});
const milliseconds = z.number().int().positive();
// The longest that setTimeout can do.
const longestTimerMs = 2 ** 31 - 1;
const timeout = z.number().int().positive().max(600_000);
const count = z.number().int().positive();
const isFunction = (value: unknown): boolean => typeof value === "function";

const ledgerOptionsSchema = z.strictObject({
  reserveTimeoutMs: timeout.default(1_000),
  settleTimeoutMs: timeout.default(2_000),
  settleBeforeEndMs: timeout.default(250),
  onUnavailable: z
    .union([z.enum(["deny", "allow"]), z.strictObject({ insure: z.strictObject({ credits: countableCredits }) })], {
      error: 'must be "deny", "allow" or { insure: { credits } }',
    })
    .default("deny"),
  maxKeptSettlements: count.default(10_000),
  replayMs: z.number().int().nonnegative().max(60_000).default(15_000),
  denialCacheMs: z.number().int().nonnegative().max(60_000).default(2_000),
});

const secret = z
  .string()
  .min(32, "must have at least 32 characters, such as those of `openssl rand -base64 32`")
  .max(1024, "must have at most 1,024 characters");

const observer = z.custom<Observer>((value) => typeof value === "object" && value !== null && !Array.isArray(value), {
  error: "must be an observer, such as openTelemetry() of infergate/otel",
});

const optionsSchema = z.strictObject({
  ...catalogShape,
  keys: having<KeyStore>("a key store, such as memoryKeyStore([…])", ["find"]),
  plans: having<PlanStore>("a plan store, such as memoryPlanStore({…})", ["find"]),
  ledger: having<CreditLedger>("a credit ledger, such as memoryCreditLedger()", [
    "reserve",
    "renew",
    "settle",
    "release",
  ]),
  budgets: having<BudgetStore>("a budget store, such as memoryBudgetStore()", ["find"]).optional(),
  accounts: having<AccountStore>("an account store, such as memoryAccountStore()", ["find"]).optional(),
  audit: having<AuditTrail>("an audit trail, such as memoryAuditTrail()", ["append", "list"]).optional(),
  modelStore: having<ModelStore>("a model store, such as memoryModelStore()", [
    "list",
    "find",
    "put",
    "remove",
  ]).optional(),
  responses: z
    .union([
      z.literal(false),
      having<ResponseStore>("a response store, such as memoryResponseStore(), or false", ["put", "find", "findChain"]),
    ])
    .optional(),
  requestLog: requestLogSchema,
  secret: z
    .union([secret, z.array(secret).min(1)], { error: "must be a secret, or a list of them: the first one signs" })
    .transform((given) => (typeof given === "string" ? [given] : given))
    .optional(),
  keyPrefix: z
    .string()
    .regex(/^[A-Za-z0-9_-]{1,32}$/, 'must be 1 to 32 letters, digits, _ and -, such as "acme_live_"')
    .default(managedPrefix),
  basePath: z
    .string()
    .refine((path) => path === "" || /^\/[^?#]*$/.test(path), { error: 'must start with a slash, such as "/api/ai"' })
    .transform((path) => path.replace(/\/+$/, ""))
    .default(""),
  maxBodyBytes: count.default(32 * 1024 * 1024),
  maxPendingBodyBytes: count.optional(),
  maxUploadBytes: count.optional(),
  uploadTimeoutMs: milliseconds.default(300_000),
  maxBodyDepth: count.max(deepestBody).default(256),
  bodyTimeoutMs: milliseconds.default(30_000),
  minBodyBytesPerSecond: z.number().int().nonnegative().default(1024),
  maxResponseBytes: count.default(64 * 1024 * 1024),
  maxEventBytes: count.default(16 * 1024 * 1024),
  keepAliveMs: milliseconds.default(10_000),
  maxStallMs: milliseconds.max(longestTimerMs).default(isIsolate ? 10_000 : 120_000),
  maxResponseMs: milliseconds.max(longestTimerMs).optional(),
  closeGraceMs: z.number().int().nonnegative().default(10_000),
  leaseMs: z.number().int().min(1000).max(900_000).default(60_000),
  cacheTtlMs: z.number().int().nonnegative().default(10_000),
  negativeCacheTtlMs: z.number().int().nonnegative().default(5_000),
  maxCacheEntries: count.default(10_000),
  storeTimeoutMs: timeout.default(2_000),
  ledgerOptions: ledgerOptionsSchema.prefault({}),
  cors: z
    .union([z.boolean(), z.strictObject({ origins: z.array(origin).readonly() })], {
      error: 'must be true, false or { origins: ["https://app.example.com"] }',
    })
    .transform((cors) => (cors === false ? undefined : cors))
    .optional(),
  identify: z.custom<Identify>(isFunction, "must be a function").optional(),
  origins: z.array(origin).readonly().optional(),
  trustProxy: z.number().int("must be the number of your proxies").min(0).max(100).default(0),
  requestId: z.custom<(request: RequestHead) => string | undefined>(isFunction, "must be a function").optional(),
  forwardTrace: z.boolean().default(true),
  endUserId: z.boolean().default(false),
  exposeCost: z.boolean().default(false),
  waitUntil: z.custom<WaitUntil>(isFunction, "must be a function, such as `after` of next/server").optional(),
  isolate: z.boolean().default(isIsolate),
  clock: having<Clock>("a clock", ["now"]).optional(),
  onRequest: z.custom<OnRequest>(isFunction, "must be a function").optional(),
  messages: z.custom<RefusalMessages>(isFunction, "must be a function").optional(),
  hookTimeoutMs: timeout.default(2_000),
  guards: responseGuardsSchema.default([]),
  onRequestCompleted: z.custom<(event: RequestCompleted) => void>(isFunction, "must be a function").optional(),
  observers: z.array(observer).readonly().default([]),
  onThreshold: z.custom<OnThreshold>(isFunction, "must be a function").optional(),
  thresholds: thresholdsSchema,
  onLedgerEvent: z.custom<(event: LedgerEvent) => void>(isFunction, "must be a function").optional(),
  onWarning: z.custom<(warning: GatewayWarning) => void>(isFunction, "must be a function").optional(),
});

const invalid = "createGateway: the options are not valid";

export type ResolvedOptions = z.output<typeof optionsSchema>;

/**
 * Checks the options and fills in the defaults.
 * @throws TypeError that lists what to fix. It does not repeat values, since they may be secret.
 */
export function resolveOptions(options: GatewayOptions<never>): ResolvedOptions {
  const result = optionsSchema.safeParse(options, explainOnce("option"));
  if (!result.success) throw new TypeError(listProblems(invalid, problemsOf(result.error)));
  const problems = findContradictions(result.data);
  if (problems.length > 0) throw new TypeError(listProblems(invalid, problems));
  return result.data;
}

function findContradictions(options: ResolvedOptions): string[] {
  const { maxBodyBytes, maxUploadBytes = 0, maxPendingBodyBytes } = options;
  const largest = Math.max(maxBodyBytes, maxUploadBytes);
  const problems = [...sessionProblems(options), ...findPlanlessKeys(options)];
  if (maxPendingBodyBytes !== undefined && maxPendingBodyBytes < largest) {
    const which = maxBodyBytes < largest ? "maxUploadBytes" : "maxBodyBytes";
    problems.push(`maxPendingBodyBytes must be at least ${which}, ${largest}: one body must find room.`);
  }
  if (options.endUserId && options.secret === undefined) {
    problems.push("endUserId needs `secret`: with a random one each process and each start would tell other ids.");
  }
  problems.push(...catalogProblems(options));
  return problems;
}

function findPlanlessKeys({ keys, accounts }: ResolvedOptions): string[] {
  if (accounts !== undefined) return [];
  const what = "names no `plan`. Give it one, or give `accounts`: an account store, which names the plans of accounts.";
  return [...(keys.withoutPlan?.() ?? [])].map((id) => `The key "${id}" ${what}`);
}
