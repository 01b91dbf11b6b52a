import { toAllowance } from "../access/allowance.js";
import { budgetResolver } from "../access/budgets/budget-resolver.js";
import type { CachedLookupOptions } from "../access/cached-lookup.js";
import { callerResolver, type ResolveCaller } from "../access/caller-resolver.js";
import { Entitlements } from "../access/entitlement.js";
import { HoldRooms } from "../access/hold-room.js";
import { warnOfUnmatched } from "../access/warn-of-unmatched.js";
import { RepeatedDenials } from "../call/admission/repeated-denial.js";
import type { CallServices } from "../call/call-services.js";
import { EndUserIds } from "../call/end-user-ids.js";
import { LeaseKeeper } from "../call/lease-keeper.js";
import { lastGraceMs, OpenCalls } from "../call/open-calls.js";
import { OwnKeyRests } from "../call/own-key-rests.js";
import { RequestIds } from "../call/request-id.js";
import { tooLargeLimits, tooManyCredits } from "../check/limit-schemas.js";
import { withStoreFault } from "../events/store-fault.js";
import { completedHook, summarizeRequests } from "../events/summarize-requests.js";
import { consoleWarn, FirstTimes, type Warn, withoutRepeats } from "../events/warning.js";
import { ResponseGuards } from "../hooks/guard-round.js";
import { type BodyOptions, PendingBodies } from "../http/request-body.js";
import { type Clock, systemClock } from "../ledger/calendar.js";
import { TimeLimit } from "../ledger/guard/time-limit.js";
import type { OperationServices } from "../protocols/shared/operation.js";
import type { CallResponses } from "../responses/response-store.js";
import { BackgroundWork } from "../runtime/background-work.js";
import { callHook, writeStacks } from "../runtime/host-code.js";
import { runtime } from "../runtime/this-runtime.js";
import { PayloadSeal } from "../seal/payload-seal.js";
import { AccountPace } from "../server/account-pace.js";
import { countPace } from "../server/count-tokens.js";
import { HostWait } from "../server/host-wait.js";
import { matchPath, routePatterns } from "../server/paths.js";
import { readPace } from "../server/read-kept.js";
import { Readiness } from "../server/readiness.js";
import { serve } from "../server/serve.js";
import type { ServerServices } from "../server/server-services.js";
import { tellsOfMisplaced } from "../server/unserved-path.js";
import { memoryResponseStore } from "../stores/memory/memory-response-store.js";
import { HostHolds } from "./admin/account-holds.js";
import { AccountTermsLookup } from "./admin/account-terms.js";
import { Auditor, managedAudit } from "./admin/audit.js";
import { managedAccounts } from "./admin/managed-accounts.js";
import { managedBudgets } from "./admin/managed-budgets.js";
import { managedKeys } from "./admin/managed-keys.js";
import { managedPlans } from "./admin/managed-plans.js";
import { requirePlanKept } from "./admin/method-checks.js";
import { type Gateway, handle, type MountableGateway, tells } from "./gateway.js";
import { healthOf } from "./gateway-health.js";
import { callerOfRequest, sessionCallers } from "./identity/identified-callers.js";
import { callInProcess } from "./in-process/call-in-process.js";
import { makesKeptResponses } from "./in-process/kept-response.js";
import { LeftBehind } from "./left-behind.js";
import { LiveCatalog } from "./models/live-catalog.js";
import { managedModels } from "./models/managed-models.js";
import { warnOfModels } from "./models/model-warnings.js";
import { type WatchedModels, type WatchedModelsOptions, watchedModels } from "./models/watched-models.js";
import { HostObservers } from "./observers/host-observers.js";
import type { GatewayOptions } from "./options.js";
import { managedRequests, type WrittenLog, writtenLog } from "./request-log/managed-requests.js";
import { type ResolvedOptions, resolveOptions } from "./resolve-options.js";
import { gatewayUsage } from "./usage/gateway-usage.js";
import { recordWarning, unknownPlanWarning, warnOfBetas } from "./warnings.js";
import { watchedLedger } from "./watched-ledger.js";
import { type WatchedLookups, watchedLookups } from "./watched-lookups.js";
import { watchedResponses } from "./watched-responses.js";
import { bridgeWebRequest } from "./web-bridge.js";

/**
 * Makes a gateway. It has no global state: two gateways in one process share nothing.
 *
 * @throws TypeError when the options are not valid; the message says what to fix.
 *
 * @example
 * ```ts
 * const gateway = createGateway({ models, keys, plans, ledger, providers });
 * app.use(toExpressHandler(gateway));
 * ```
 */
export function createGateway<Raw = unknown>(options: GatewayOptions<Raw>): Gateway {
  const given = resolveOptions(options);
  const observers = new HostObservers(given);
  const gateway = assemble(observers.addTo(given), observers);
  observers.start(gateway);
  return gateway;
}

function assemble(resolved: ResolvedOptions, observers: HostObservers): Gateway {
  const { warn, warnOnce } = toWarnings(resolved);
  const catalog = new LiveCatalog(resolved, warnOnce);
  checkTerms(resolved, catalog, warnOnce);
  const clock = resolved.clock ?? systemClock;
  const background = new BackgroundWork();
  const watched = watchedLedger(resolved, { clock, warn, background });
  const { ledger, close: closeLedger, health: ledgers } = watched;
  const storeLimit = timeLimitOf(resolved.storeTimeoutMs, resolved);
  const storeWatch = { ...cacheOptions(resolved, clock), timeLimit: storeLimit, warn, warnOnce };
  const lookups = watchedLookups(resolved, catalog, storeWatch);
  const { findAllowance, findCaller, keyUses } = lookups;
  const models = storedModels(resolved, { catalog, limit: storeLimit, warn, warnOnce });
  const keeper = new LeaseKeeper(ledger, { ...resolved, warn });
  const audit = new Auditor({ trail: resolved.audit, timeLimit: storeLimit, clock, warn });
  const responses = responseStore(resolved, storeLimit, warn);
  const log = writtenLog(resolved, clock, { timeLimit: storeLimit, warn });
  const terms = new AccountTermsLookup(resolved.keys, lookups, clock);
  const holds = new HostHolds({ ...lookups, ledger, keeper, leaseMs: resolved.leaseMs, terms, warn });
  const applyBudgets = budgetResolver(lookups.budgets, findAllowance);
  const openCalls = new OpenCalls(resolved.isolate);
  const used = { catalog, findAllowance, applyBudgets, ledger, keeper, openCalls, background, clock };
  const others = [watched.idle, ...(responses ? [() => responses.settled()] : [])];
  const leftBehind = new LeftBehind({ ...used, ...resolved, keyUses, log: log?.writer, others });
  const services: ServerServices = {
    calls: { ...callOptions(resolved, responses, { warn, warnOnce }), ...used },
    findCaller,
    keyUses,
    identifyCaller: sessionCallers(resolved, { terms, timeLimit: storeLimit, warn, warnOnce }),
    resolveCaller: gatedBy(models, callerResolver(lookups.findAccount, warnOnce, applyBudgets)),
    observe: observers.observe({ ...observing(resolved, log, background, warn), warnOnce, clock }),
    observeEnd: summarizeRequests(() => {}, clock),
    hostWait: new HostWait({ ...resolved, written: (ids) => leftBehind.ofRequest(ids), warnOnce }),
    ...serverOptions(resolved, clock, warn),
  };
  let closed: Promise<void> | undefined;
  const warnOfUnknownPlan = unknownPlanWarning(resolved.plans, storeLimit, warn);
  const warnOfRecord = recordWarning(warnOfUnknownPlan, { catalog, feed: models?.feed, warn });
  const parts = { catalog, holds, responses, closeLedger, log, lookups, models, storeLimit, observers };
  const { maxStallMs } = resolved;
  const makeWhole = makesKeptResponses();
  const inProcess = { server: services, terms, maxStallMs, timeLimit: storeLimit, makeWhole };
  const gateway: MountableGateway = {
    basePath: resolved.basePath,
    maxStallMs,
    routes: routePatterns,
    serves: (path) => matchPath(path) !== undefined,
    [handle]: (request) => serve(services, request),
    [tells]: (path, request, isBelowPrefix) =>
      tellsOfMisplaced(path, request, { isBelowPrefix, keyPrefix: resolved.keyPrefix }),
    handler: (request, context) => bridgeWebRequest(gateway, request, context),
    as: (caller) => callInProcess(inProcess, caller),
    caller: (request) => callerOfRequest(services, request),
    keys: managedKeys({ ...resolved, ledger, terms, warn, audit }, findCaller, clock, warnOfUnknownPlan),
    plans: managedPlans({ ...resolved, feed: models?.feed, audit, warn }, lookups.findAllowance, catalog),
    models: managedModels(models, catalog, audit),
    budgets: managedBudgets({ ...resolved, ledger }, { ...lookups, terms, clock, audit, warnOfRecord }),
    accounts: managedAccounts(
      { ...resolved, ledger, responses, requestLog: log, catalog },
      { ...lookups, terms, warnOfRecord, holds, audit, warn, warnOnce },
    ),
    audit: managedAudit(resolved.audit, audit),
    usage: gatewayUsage({ ...resolved, ledger, log }, clock),
    requests: managedRequests(log),
    health: () => healthOf(catalog.current.values(), clock.now(), ledgers(), log?.writer.backlog),
    update: (change) => catalog.update(change, { ...used, plans: resolved.plans, warn: warnOnce }),
    idle: (maxMs) => leftBehind.idle(maxMs),
    sweep: async () => (ledger.inProcess === true ? 0 : ((await ledger.sweep?.()) ?? 0)),
    drain: () => services.readiness.end(),
    close: () => {
      services.readiness.end();
      closed ??= close({ ...resolved, ...services.calls, ...parts });
      return closed;
    },
  };
  return gateway;
}

/** What ends with the gateway. */
interface ClosedParts {
  readonly closeGraceMs: number;
  readonly openCalls: OpenCalls;
  readonly holds: HostHolds;
  readonly keeper: LeaseKeeper;
  readonly responses: CallResponses | undefined;
  readonly closeLedger: () => Promise<void>;
  readonly log: WrittenLog | undefined;
  readonly lookups: WatchedLookups;
  readonly storeLimit: TimeLimit;
  readonly models: WatchedModels | undefined;
  readonly catalog: LiveCatalog;
  readonly observers: HostObservers;
}

async function close(parts: ClosedParts): Promise<void> {
  await parts.openCalls.close(parts.closeGraceMs);
  await parts.holds.close();
  parts.keeper.stop();
  // They are bounded in time.
  await parts.responses?.settled();
  await parts.closeLedger();
  await parts.log?.writer.close(Math.max(parts.closeGraceMs, lastGraceMs));
  await parts.lookups.close();
  await parts.models?.close();
  parts.storeLimit.close();
  await parts.catalog.close();
  await parts.observers.close();
}

function storedModels(
  { modelStore: store, plans, cacheTtlMs, isolate }: ResolvedOptions,
  services: Omit<WatchedModelsOptions, "plans" | "ttlMs" | "isolate">,
): WatchedModels | undefined {
  return store && watchedModels(store, { ...services, plans, ttlMs: cacheTtlMs, isolate });
}

function gatedBy(models: WatchedModels | undefined, resolve: ResolveCaller): ResolveCaller {
  return models === undefined ? resolve : models.gate(resolve);
}

function cacheOptions(options: ResolvedOptions, clock: Clock): CachedLookupOptions {
  const { cacheTtlMs: ttlMs, negativeCacheTtlMs: negativeTtlMs, maxCacheEntries: maxEntries, isolate } = options;
  return { ttlMs, negativeTtlMs, maxEntries, isolate, clock };
}

function timeLimitOf(ms: number, { isolate }: ResolvedOptions): TimeLimit {
  return new TimeLimit(ms, ms, isolate);
}

/**
 * Checks models and plans.
 * @throws TypeError | RangeError for a plan of the options that is not valid, or has limits that the ledger does not keep.
 */
function checkTerms({ plans, ledger, modelStore: models }: ResolvedOptions, catalog: LiveCatalog, warn: Warn): void {
  warnOfModels(catalog.models, catalog.providers, warn);
  for (const plan of plans.list?.() ?? []) {
    const allowance = toAllowance(plan.id, plan);
    const [tooLarge] = tooLargeLimits(plan.credits);
    if (tooLarge !== undefined) {
      throw new TypeError(`createGateway: the plan ${JSON.stringify(plan.id)}: credits.${tooLarge}: ${tooManyCredits}`);
    }
    requirePlanKept("createGateway", ledger, plan);
    // A model that a plan names may be in the store, which is not read yet.
    if (models === undefined) warnOfUnmatched(allowance, catalog.current, warn);
  }
}

/** What the server takes from the options. */
function serverOptions({ keyPrefix, cors, requestId, messages }: ResolvedOptions, clock: Clock, warn: Warn) {
  return {
    keyPrefix,
    cors,
    countPace: new AccountPace(countPace, clock),
    readPace: new AccountPace(readPace, clock),
    readiness: new Readiness(),
    requestIdOf: requestId,
    refusalWords: messages && { messages, warn },
  };
}

/** What calls take from the options. */
function callOptions(
  resolved: ResolvedOptions,
  responses: CallResponses | undefined,
  { warn, warnOnce }: Pick<CallServices, "warn" | "warnOnce">,
): Omit<
  CallServices,
  "catalog" | "findAllowance" | "applyBudgets" | "ledger" | "keeper" | "openCalls" | "background" | "clock"
> {
  const { leaseMs, maxResponseBytes, maxEventBytes, keepAliveMs, maxResponseMs, onRequest, hookTimeoutMs } = resolved;
  const [secret] = resolved.secret ?? [];
  return {
    leaseMs,
    ...bodyOptions(resolved),
    operations: operationServices(resolved, responses, warn),
    limits: { maxResponseBytes, maxEventBytes, keepAliveMs, maxResponseMs },
    exposesCost: resolved.exposeCost,
    forwardsTrace: resolved.forwardTrace,
    endUserIds: resolved.endUserId && secret !== undefined ? new EndUserIds(secret) : undefined,
    requestHook: onRequest && { onRequest, limit: timeLimitOf(hookTimeoutMs, resolved) },
    ownKeyLimit: timeLimitOf(hookTimeoutMs, resolved),
    ownKeyRests: new OwnKeyRests(),
    responseGuards:
      resolved.guards.length === 0 ? undefined : new ResponseGuards(resolved.guards, warn, resolved.isolate),
    warn,
    warnOnce,
    costlyTargets: new FirstTimes(),
    entitlements: new Entitlements(),
    holdRooms: new HoldRooms(),
    denials: new RepeatedDenials(),
    requestIds: new RequestIds(),
  };
}

function toWarnings({ onWarning }: ResolvedOptions): Pick<CallServices, "warn" | "warnOnce"> {
  const warn = toWarn(onWarning);
  return { warn, warnOnce: withoutRepeats(warn) };
}

/** One event for the request log and the host's hook, which is last, since it may write into the event. */
function observing(
  { onRequestCompleted }: ResolvedOptions,
  log: WrittenLog | undefined,
  background: BackgroundWork,
  warn: Warn,
) {
  const complete = onRequestCompleted && completedHook(onRequestCompleted, background, warn);
  return { complete, log: log?.writer.add, maxTextCharacters: log?.maxTextCharacters ?? 0 };
}

const defaultPendingBodyBytes = 256 * 1024 * 1024;

function operationServices(
  { maxBodyDepth, maxBodyBytes, secret, isolate }: ResolvedOptions,
  responses: CallResponses | undefined,
  warn: Warn,
): OperationServices {
  const seal = new PayloadSeal(secret ?? (() => randomSecret(isolate, warn)));
  return { maxBodyDepth, maxBodyBytes, responses, seal, onUnknownBeta: warnOfBetas(warn) };
}

/** Isolates come and go by the minute, and many serve one gateway. */
function randomSecret(isolate: boolean, warn: Warn): readonly Uint8Array[] {
  if (isolate) {
    const message =
      "There is no `secret`: thoughts of models that clients send back are left out wherever another isolate serves them. " +
      "Give createGateway one, such as that of `openssl rand -base64 32`.";
    warn({ code: "secret_missing", message });
  }
  return [runtime.randomBytes(32)];
}

function responseStore({ responses, clock }: ResolvedOptions, limit: TimeLimit, warn: Warn): CallResponses | undefined {
  if (responses === false) return undefined;
  return watchedResponses(responses ?? memoryResponseStore(clock === undefined ? {} : { clock }), limit, warn);
}

const usualUploadBytes = 32 * 1024 * 1024;

/** The limits of bodies, and of forms with files. */
function bodyOptions(options: ResolvedOptions): { readonly body: BodyOptions; readonly uploads: BodyOptions } {
  const { maxBodyBytes, bodyTimeoutMs, uploadTimeoutMs, minBodyBytesPerSecond } = options;
  const largest = Math.max(maxBodyBytes, options.maxUploadBytes ?? 0);
  const { maxPendingBodyBytes = Math.max(defaultPendingBodyBytes, largest) } = options;
  const pendingBodies = new PendingBodies(maxPendingBodyBytes, largest);
  const { maxUploadBytes = Math.min(usualUploadBytes, pendingBodies.maxAccountBytes) } = options;
  const body = { maxBodyBytes, bodyTimeoutMs, minBodyBytesPerSecond, pendingBodies };
  return { body, uploads: { ...body, maxBodyBytes: maxUploadBytes, bodyTimeoutMs: uploadTimeoutMs } };
}

/** Errors of the warning hook are ignored. */
function toWarn(onWarning: GatewayOptions["onWarning"]): Warn {
  if (onWarning === undefined) return (warning) => consoleWarn(withStoreFault(warning));
  // If the hook fails, there is no other place to report it.
  return (warning) => {
    writeStacks(warning.cause);
    callHook(
      () => onWarning(withStoreFault(warning)),
      () => {},
    );
  };
}
