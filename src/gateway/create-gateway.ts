import { modelRecord } from "../endpoints/models.js";
import { matchRoute, routePatterns } from "../endpoints/routes.js";
import { systemClock } from "../ledger/clock.js";
import { allowanceLookup, callerLookup, toAllowance } from "../pipeline/accounts.js";
import type { Catalog } from "../pipeline/catalog.js";
import { toDrainLimits } from "../pipeline/drain.js";
import { InFlight } from "../pipeline/in-flight.js";
import { LeaseKeeper } from "../pipeline/lease-keeper.js";
import type { Pipeline } from "../pipeline/pipeline.js";
import { run } from "../pipeline/run.js";
import type { Warn } from "../pipeline/warning.js";
import { buildRoute } from "./build-route.js";
import type { Gateway } from "./gateway.js";
import { healthOf } from "./gateway-health.js";
import { type GatewayOptions, type ResolvedOptions, resolveOptions } from "./options.js";
import { handleWebRequest } from "./web-bridge.js";

/**
 * Makes a gateway. It holds no global state: two in one process never meet.
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
  for (const plan of resolved.plans.list?.() ?? []) toAllowance(plan.id, plan, catalog, warn);

  const clock = resolved.clock ?? systemClock;
  const cache = {
    ttlMs: resolved.cacheTtlMs,
    negativeTtlMs: resolved.negativeCacheTtlMs,
    maxEntries: resolved.maxCacheEntries,
    clock,
  };
  const keeper = new LeaseKeeper(resolved.ledger, resolved.leaseMs, warn);
  const inFlight = new InFlight();
  const pipeline: Pipeline = {
    catalog,
    findCaller: callerLookup(resolved.keys, catalog, cache, warn),
    findAllowance: allowanceLookup(resolved.plans, catalog, cache, warn),
    ledger: resolved.ledger,
    keeper,
    inFlight,
    clock,
    warn,
    completed: resolved.onRequestCompleted,
    maxBodyBytes: resolved.maxBodyBytes,
    maxBodyDepth: resolved.maxBodyDepth,
    bodyTimeoutMs: resolved.bodyTimeoutMs,
    maxAnswerBytes: resolved.maxAnswerBytes,
    maxEventBytes: resolved.maxEventBytes,
    keepAliveMs: resolved.keepAliveMs,
    leaseMs: resolved.leaseMs,
    cors: resolved.cors,
  };

  const close = async (): Promise<void> => {
    await inFlight.close(resolved.closeGraceMs);
    keeper.stop();
    await Promise.allSettled(Object.values(resolved.providers).map(async (provider) => provider.close?.()));
  };
  let closed: Promise<void> | undefined;

  const gateway: Gateway = {
    basePath: resolved.basePath,
    routes: routePatterns,
    serves: (path) => matchRoute(path) !== undefined,
    handle: (request) => run(pipeline, request),
    handler: (request) => handleWebRequest(gateway, request),
    health: () => healthOf(catalog.values(), clock.now()),
    close: () => {
      closed ??= close();
      return closed;
    },
  };
  return gateway;
}

function buildCatalog({ models, providers }: ResolvedOptions): Catalog {
  return new Map(
    models.map((model) => {
      const { id, type, contextLength, maxOutputTokens } = model;
      const { target, route, price } = buildRoute(model, providers);
      const drain = toDrainLimits(model.disconnect ?? "cancel");
      const record = modelRecord(model);
      return [id, { id, type, contextLength, maxOutputTokens, price, target, route, drain, record }];
    }),
  );
}

/** A warning hook must not make things worse. */
function toWarn(onWarning: GatewayOptions["onWarning"]): Warn {
  if (onWarning === undefined) {
    // biome-ignore lint/suspicious/noConsole: where warnings go unless the host takes them
    return ({ code, message }) => console.warn(`infergate: ${message} [${code}]`);
  }
  return (warning) => {
    // Should it fail, at once or later, nobody is left to tell.
    new Promise((resolve) => resolve(onWarning(warning))).catch(() => {});
  };
}
