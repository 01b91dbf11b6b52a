import { once, toAllowance } from "../access/accounts.js";
import type { Catalog } from "../access/catalog.js";
import { LeaseKeeper } from "../call/lease-keeper.js";
import { OpenCalls } from "../call/open-calls.js";
import { joinObservers } from "../events/request-observer.js";
import { summarizeRequests } from "../events/request-summary.js";
import type { Warn } from "../events/warning.js";
import { TimeLimit } from "../guard/time-limit.js";
import { PendingBodies } from "../http/pending-bodies.js";
import type { BodyOptions } from "../http/read-body.js";
import { systemClock } from "../ledger/clock.js";
import { memoryResponseStore } from "../memory/memory-response-store.js";
import type { Lacking } from "../openai/chat/capabilities.js";
import type { OperationServices } from "../operations/operation.js";
import { toDrainLimits } from "../plans/disconnect.js";
import type { CallResponses } from "../responses/call-responses.js";
import { modelRecord } from "../server/model-record.js";
import { matchPath, routePatterns } from "../server/paths.js";
import { type ServerServices, serve } from "../server/serve.js";
import { resolveTokenBounds } from "../tokens/token-bounds.js";
import { managedAccounts } from "./admin/managed-accounts.js";
import { managedKeys } from "./admin/managed-keys.js";
import { managedPlans } from "./admin/managed-plans.js";
import { buildRoute } from "./build-route.js";
import { type Gateway, handle, type MountableGateway } from "./gateway.js";
import { healthOf } from "./gateway-health.js";
import { type GatewayOptions, type ResolvedOptions, resolveOptions } from "./options.js";
import { unknownPlanWarning } from "./unknown-plan.js";
import { watchedLedger } from "./watched-ledger.js";
import { watchedLookups } from "./watched-lookups.js";
import { watchedResponses } from "./watched-responses.js";
import { bridgeWebRequest } from "./web-bridge.js";

/**
 * Makes a gateway. It holds no global state: two in one process share nothing.
 *
 * @throws TypeError when the options are not valid; the message says what to fix.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ models, keys, plans, ledger, providers });
 * app.use(toExpressHandler(gateway));
 * ```
 */
export function createGateway(options: GatewayOptions): Gateway {
  const resolved = resolveOptions(options);
  const warn = toWarn(resolved.onWarning);
  const catalog = buildCatalog(resolved);
  const warnOnce = once(warn);
  for (const plan of resolved.plans.list?.() ?? []) toAllowance(plan.id, plan, catalog, warnOnce);

  const clock = resolved.clock ?? systemClock;
  const { ledger, close: closeLedger } = watchedLedger(resolved, clock, warn);
  const storeLimit = new TimeLimit(resolved.storeTimeoutMs);
  const { cacheTtlMs: ttlMs, negativeCacheTtlMs: negativeTtlMs, maxCacheEntries: maxEntries } = resolved;
  const cache = { ttlMs, negativeTtlMs, maxEntries, clock };
  const lookups = watchedLookups(resolved, catalog, { ...cache, timeLimit: storeLimit, warn, warnOnce });
  const keeper = new LeaseKeeper(ledger, resolved.leaseMs, warn);
  const openCalls = new OpenCalls();
  const responses = responseStore(resolved, storeLimit, warn);
  const { onRequestCompleted } = resolved;
  const services: ServerServices = {
    calls: {
      catalog,
      findAllowance: lookups.findAllowance,
      ledger,
      keeper,
      leaseMs: resolved.leaseMs,
      openCalls,
      clock,
      warn,
      body: bodyOptions(resolved),
      operations: operationServices(resolved, responses),
      limits: {
        maxAnswerBytes: resolved.maxAnswerBytes,
        maxEventBytes: resolved.maxEventBytes,
        keepAliveMs: resolved.keepAliveMs,
        maxAnswerMs: resolved.maxAnswerMs,
      },
    },
    findCaller: lookups.findCaller,
    observe: joinObservers(onRequestCompleted === undefined ? [] : [summarizeRequests(onRequestCompleted, warn)]),
    cors: resolved.cors,
  };

  const close = async (): Promise<void> => {
    await openCalls.close(resolved.closeGraceMs);
    keeper.stop();
    // They are bounded in time.
    await responses?.settled();
    await closeLedger();
    await lookups.close();
    storeLimit.close();
    await Promise.allSettled(Object.values(resolved.providers).map(async (provider) => provider.close?.()));
  };
  let closed: Promise<void> | undefined;
  const warnOfUnknownPlan = unknownPlanWarning(resolved.plans, storeLimit, warn);

  const gateway: MountableGateway = {
    basePath: resolved.basePath,
    maxStallMs: resolved.maxStallMs,
    routes: routePatterns,
    serves: (path) => matchPath(path) !== undefined,
    [handle]: (request) => serve(services, request),
    handler: (request) => bridgeWebRequest(gateway, request),
    keys: managedKeys(resolved.keys, lookups.findCaller, clock, warnOfUnknownPlan),
    plans: managedPlans(resolved.plans, lookups.findAllowance, catalog, warn),
    accounts: managedAccounts({ keys: resolved.keys, ledger, responses, clock }, lookups),
    health: () => healthOf(catalog.values(), clock.now()),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
  return gateway;
}

const defaultPendingBodyBytes = 256 * 1024 * 1024;

function operationServices(
  { maxBodyDepth, maxBodyBytes }: ResolvedOptions,
  responses: CallResponses | undefined,
): OperationServices {
  return { maxBodyDepth, maxBodyBytes, responses };
}

function responseStore({ responses, clock }: ResolvedOptions, limit: TimeLimit, warn: Warn): CallResponses | undefined {
  if (responses === false) return undefined;
  return watchedResponses(responses ?? memoryResponseStore(clock === undefined ? {} : { clock }), limit, warn);
}

function bodyOptions(options: ResolvedOptions): BodyOptions {
  const { maxBodyBytes, bodyTimeoutMs, minBodyBytesPerSecond } = options;
  const { maxPendingBodyBytes = Math.max(defaultPendingBodyBytes, maxBodyBytes) } = options;
  const pendingBodies = new PendingBodies(maxPendingBodyBytes, maxBodyBytes);
  return { maxBodyBytes, bodyTimeoutMs, minBodyBytesPerSecond, pendingBodies };
}

function buildCatalog({ models, providers }: ResolvedOptions): Catalog {
  return new Map(
    models.map((model) => {
      const { id, type, contextLength, maxOutputTokens } = model;
      const routing = buildRoute(model, providers);
      const drain = toDrainLimits(model.disconnect ?? "cancel");
      const record = modelRecord(model);
      const lacking = lackingOf(model);
      const { enforceContextLength: enforcesContext, tokenizer, capabilities } = model;
      const reasons = capabilities?.["reasoning"] === true;
      const tokenBounds = resolveTokenBounds(model.tokenBounds);
      const limits = { contextLength, maxOutputTokens, lacking, enforcesContext, tokenizer, tokenBounds, reasons };
      return [id, { id, type, ...limits, ...routing, drain, record }];
    }),
  );
}

/** A model lacks each capability that its options do not name. */
function lackingOf({ unsupported, capabilities = {} }: ResolvedOptions["models"][number]): Lacking | undefined {
  if (unsupported === "pass") return undefined;
  const [tools, reasoning, vision] = ["tools", "reasoning", "vision"].map((name) => capabilities[name] !== true);
  return { action: unsupported, tools: tools === true, reasoning: reasoning === true, vision: vision === true };
}

/** The warning hook may fail: that must not make things worse. */
function toWarn(onWarning: GatewayOptions["onWarning"]): Warn {
  if (onWarning === undefined) {
    return ({ code, message, requestId }) => {
      const about = requestId === undefined ? code : `${code}, ${requestId}`;
      // biome-ignore lint/suspicious/noConsole: where warnings go unless the host takes them
      console.warn(`infergate: ${message} [${about}]`);
    };
  }
  return (warning) => {
    // A failure of the hook, at once or later, has no other place to go.
    new Promise((resolve) => resolve(onWarning(warning))).catch(() => {});
  };
}
