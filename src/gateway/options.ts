import type { AuditTrail } from "../audit/audit-trail.js";
import type { RequestCompleted } from "../events/request-completed.js";
import type { GatewayWarning } from "../events/warning.js";
import type { OnRequest } from "../hooks/admission.js";
import type { RefusalMessages } from "../hooks/refusal-messages.js";
import type { ResponseGuard } from "../hooks/response-guard.js";
import type { RequestHead, WaitUntil } from "../http/message.js";
import type { CorsOptions } from "../http/origin.js";
import type { Clock } from "../ledger/calendar.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { LedgerEvent } from "../ledger/guard/ledger-event.js";
import type { UpstreamProvider } from "../providers/upstream-provider.js";
import type { AccountStore } from "../records/accounts/account-store.js";
import type { BudgetStore } from "../records/budgets/budget-store.js";
import type { KeyStore } from "../records/keys/key-store.js";
import type { ModelStore } from "../records/models/model-store.js";
import type { PlanStore } from "../records/plans/plan-store.js";
import type { RequestLog } from "../request-log/request-log.js";
import type { ResponseStore } from "../responses/response-store.js";
import type { Identify } from "./identity/identity.js";
import type { Model } from "./models/model.js";
import type { Observer } from "./observers/observer.js";
import type { RequestLogOptions } from "./request-log/request-log-options.js";
import type { ThresholdReached } from "./thresholds.js";

/**
 * The options of `createGateway`.
 *
 * @typeParam Raw - what the host's framework calls a request, for {@link GatewayOptions.identify}.
 */
export interface GatewayOptions<Raw = unknown> {
  /** The catalog, in the order in which models are listed. {@link Gateway.update} changes it. */
  models: readonly Model[];
  /** Finds API keys. */
  keys: KeyStore;
  /** Finds plans. */
  plans: PlanStore;
  /**
   * What the keys that {@link Gateway.keys} makes begin with, such as `acme_live_`: 1 to 32 letters, digits, `_` and `-`.
   * Keys that were made with another prefix keep working. Default: `sk-ig-`.
   */
  keyPrefix?: string | undefined;
  /** Keeps the accounts' credits. */
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
  /**
   * The most bytes of request bodies that may wait until their calls are admitted or refused; beyond it a 503. An
   * account may have a quarter of it, or one body of {@link maxBodyBytes} if that is more; beyond it a 429. Announced
   * bytes do not count, nor does a body that arrived together with its headers. Default: 256 MiB, or {@link
   * maxBodyBytes}.
   */
  maxPendingBodyBytes?: number | undefined;
  /** The largest form with files in bytes; beyond it a 413. Default: 32 MiB, or what bodies of one account may have together. */
  maxUploadBytes?: number | undefined;
  /** How long such a form may take to arrive, in milliseconds; beyond it a 408. Default: 300,000. */
  uploadTimeoutMs?: number | undefined;
  /** How deep a request body may be nested; beyond it a 400. Default: 256. */
  maxBodyDepth?: number | undefined;
  /** How long a request body may take to arrive, in milliseconds; beyond it a 408. Default: 30,000. */
  bodyTimeoutMs?: number | undefined;
  /**
   * The lowest speed of a request body, in bytes per second, measured every ten seconds; below it a 408. 0: no lowest
   * speed. Default: 1,024.
   */
  minBodyBytesPerSecond?: number | undefined;
  /**
   * The largest whole response of an upstream in bytes; beyond it a 502. Where the request asked for images, vectors or log
   * probabilities, a 400 `answer_too_large`, which is charged. Default: 64 MiB.
   */
  maxResponseBytes?: number | undefined;
  /** The largest event of an upstream's stream in bytes; beyond it the same. Default: 16 MiB. */
  maxEventBytes?: number | undefined;
  /**
   * After this much silence, in milliseconds, a stream gets a keep-alive comment, so that proxies do not cut the
   * connection. It is also the longest wait for the first event before the status is sent. Default: 10,000.
   */
  keepAliveMs?: number | undefined;
  /**
   * How long a response may wait while its client takes nothing of it, in milliseconds. Then the gateway closes the
   * connection, and the client counts as one that has left. Keep-alive comments do not count as taken. Default:
   * 120,000; 10,000 on Workers, which do not always tell that a client has left, and end 30 seconds after it has.
   */
  maxStallMs?: number | undefined;
  /**
   * How long a call may take from its admission to the end of its response, in milliseconds. Then it ends like a call
   * whose upstream timed out. Default: as long as the upstream's timeouts allow.
   */
  maxResponseMs?: number | undefined;
  /** How long {@link Gateway.close} lets open responses end, in milliseconds. Default: 10,000. */
  closeGraceMs?: number | undefined;
  /** How long the credits held by a crashed process stay held, in milliseconds, 1 s to 15 min. Default: 60,000. */
  leaseMs?: number | undefined;
  /**
   * How long the gateway caches a key or plan, in milliseconds; 0: not at all. A revocation without a notice from the
   * store takes effect at most this much later. Default: 10,000.
   */
  cacheTtlMs?: number | undefined;
  /** How long the gateway caches that a key or plan does not exist, in milliseconds; 0: not at all. Default: 5,000. */
  negativeCacheTtlMs?: number | undefined;
  /** The most keys to cache, and the most absent ones. Default: 10,000. */
  maxCacheEntries?: number | undefined;
  /**
   * How long a key or plan store, or `identify`, may take to respond, in milliseconds; beyond it a 503. A read of a store that has
   * no response after a quarter of it is sent again. Default: 2,000.
   */
  storeTimeoutMs?: number | undefined;
  /**
   * Keeps responses of the Responses API, so that later requests can refer to them: one of the stores, or your own.
   * `false`: none is kept. Default: `memoryResponseStore()`.
   */
  responses?: ResponseStore | false | undefined;
  /**
   * Finds accounts: one of the stores' `accounts`, or your own. Given, plan and anchor of every caller come from there,
   * and suspended accounts are refused. An account that it does not know has those of its key. Default: plan and anchor
   * stand on the keys.
   */
  accounts?: AccountStore | undefined;
  /**
   * Keeps what the management API changes, with who did it and why: one of the stores' `audit`, or your own. See
   * `docs/audit.md`. Default: none is kept.
   */
  audit?: AuditTrail | undefined;
  /**
   * Finds budgets on tags: one of the stores' `budgets`, or your own. Asked for callers with tags only. Default: none, and
   * plans alone may have budgets.
   */
  budgets?: BudgetStore | undefined;
  /**
   * Keeps models that {@link Gateway.models} changes for all processes at run time: one of the stores' `modelStore`,
   * `memoryModelStore()`, or your own. Its entries count in place of the {@link models} of the same ids, and beside the
   * others. Default: there are the `models` alone.
   */
  modelStore?: ModelStore | undefined;
  /**
   * Keeps one line a request for {@link Gateway.requests}: one of the stores' `requestLog`, or your own. It is written behind
   * the answers, and holds no call up. Default: requests are not logged. See `docs/requests.md`.
   */
  requestLog?: RequestLog | RequestLogOptions | undefined;
  /**
   * Signs what clients keep of models' thoughts and send back, so that they cannot change it, nor carry it to another
   * account: 32 characters or more, such as those of `openssl rand -base64 32`. Of several, the first signs, and all verify,
   * so that it can be replaced. Give all processes the same one. Default: a random one for each gateway; thoughts of before
   * a restart, or of another process, are then left out, and the conversation goes on without them.
   */
  secret?: string | readonly string[] | undefined;
  /** How the gateway uses its ledger: how long it waits, and what it does when the ledger is away. */
  ledgerOptions?: LedgerOptions | undefined;
  /** Lets web pages call the gateway: `true` for all, or those of some origins. Default: `false`, no CORS headers. */
  cors?: CorsOptions | false | undefined;
  /**
   * Finds who a request without an API key is from, by the host's own session: called for each such request, never for
   * one with a key. A falsy answer is a 401. Where it throws, takes longer than {@link storeTimeoutMs}, or finds an
   * identity that does not fit: a 503 and a warning. The request must come from the host's own origin, else a 403.
   * Default: there are no sessions. See `docs/sessions.md`.
   */
  identify?: Identify<Raw> | undefined;
  /**
   * The host's own origins, such as `["https://app.example.com"]`, for browsers that do not say where a request with a
   * session comes from. Needed behind a proxy that changes the `Host` header. Default: the request's own host.
   */
  origins?: readonly string[] | undefined;
  /**
   * How many proxies of your own stand before this server, 0 to 100: so many addresses of `X-Forwarded-For` are believed, counted
   * from its end, for the `ip` of what {@link identify} gets. Default: 0, the header is not read.
   */
  trustProxy?: number | undefined;
  /**
   * Gives your own id of a request, for `x-request-id`, events, warnings and providers: 1 to 128 letters, digits and
   * `. _ ~ : / + = @ -`. Synchronous; called once per request, before anything is checked. Default, and where it gives
   * no such id: an id of the gateway's.
   */
  requestId?: ((request: RequestHead) => string | undefined) | undefined;
  /** Whether upstreams get a request's `traceparent` and `tracestate`, if they are well-formed. Default: `true`. */
  forwardTrace?: boolean | undefined;
  /**
   * Whether model servers learn which calls are of one account, by an id from which nobody reads the account: OpenAI's
   * `safety_identifier`, Anthropic's `metadata.user_id`, in place of what the client sent. It needs {@link secret}, and is the
   * same for as long as that is. See `docs/upstreams.md`. Default: `false`.
   */
  endUserId?: boolean | undefined;
  /**
   * Whether clients see what a call costs: `usage.cost`, in credits, in whole responses and in the usage of streams.
   * Default: `false`.
   */
  exposeCost?: boolean | undefined;
  /**
   * Tells the host of work that goes on after a response, where the host would end this process, or freeze it, at the end of
   * the response or when the client has left: `waitUntil` of `@vercel/functions`, `after` of Next.js. Called once a request, at
   * its start. The work ends when the request's charge is settled, its line is in the request log, the use of its key is
   * noted, and your hooks have returned; it never rejects. `infergate/fetch` takes that of a Worker's context by itself.
   * Default: processes live on. See `docs/serverless.md`.
   */
  waitUntil?: WaitUntil | undefined;
  /**
   * Whether this process is an isolate: a runtime that ties each promise, timer and socket to the request that made it. Then no
   * request waits for what another one has begun: nothing is batched, no notices of changes are listened to, and leases that
   * expire are ended by {@link Gateway.sweep} alone. Default: whether it is a Worker of Cloudflare.
   */
  isolate?: boolean | undefined;
  /** The clock, for tests. Default: the system's clock. */
  clock?: Clock | undefined;
  /**
   * Called before each call of a model, once its key, plan and model were checked, and before credits are held: it may
   * refuse the call with a {@link GatewayError}, tag it, add to the upstream's request, and replace texts. If it throws
   * anything else, takes longer than {@link hookTimeoutMs}, or returns what is not valid, the client gets a 503. Default:
   * every call is made as it was sent.
   */
  onRequest?: OnRequest | undefined;
  /**
   * What people read where a call is refused for credits, limits, the plan or an own key, such as the end of a trial: see
   * {@link RefusalMessages}. Where it throws, or gives what is no text, it is a warning. Default: the gateway's own words.
   */
  messages?: RefusalMessages | undefined;
  /** How long {@link onRequest} may take, and the `ownKey` of providers, in milliseconds, up to 10 min; beyond it a 503. Default: 2,000. */
  hookTimeoutMs?: number | undefined;
  /**
   * Check what models answer, before it goes out: each may refuse an answer, or tag its call. Whole answers and streams
   * wait for the verdict. Default: none. See `docs/guards.md`.
   */
  guards?: readonly ResponseGuard[] | undefined;
  /** Called once per request, when its response has ended. If the hook throws, the only effect is a warning. */
  onRequestCompleted?: ((event: RequestCompleted) => void) | undefined;
  /**
   * Called once when the use of a window, or of a key's cap, reaches one of {@link thresholds}, and when prepaid credits
   * are used up: in the process whose settlement reached it, after the response. Lost if that process dies then. If the
   * hook throws, the only effect is a warning. See `docs/hooks.md`.
   */
  onThreshold?: ((event: ThresholdReached) => void) | undefined;
  /**
   * What {@link onThreshold} is called for. `percent`: shares of a limit, in whole per cent, 1 to 100; 10 at most; of
   * several that one charge reaches, the highest. `prepaid`: low balances of prepaid credits, in credits, so that an
   * account can be recharged before calls are refused. A list is `percent` alone. Default: `{ percent: [80, 100] }`.
   */
  thresholds?: readonly number[] | ThresholdOptions | undefined;
  /**
   * Look on while requests are served: traces, metrics and logs, as of `infergate/otel`, `infergate/prometheus` and
   * `infergate/logs`, or your own. Default: none. See `docs/observability.md`.
   */
  observers?: readonly Observer[] | undefined;
  /** Called with the events of the ledger and of the charges that are sent to it: its metrics. */
  onLedgerEvent?: ((event: LedgerEvent) => void) | undefined;
  /** Called when something needs the operator's attention. Default: `console.warn`. */
  onWarning?: ((warning: GatewayWarning) => void) | undefined;
}

/** The thresholds of {@link GatewayOptions.onThreshold}. */
export interface ThresholdOptions {
  /** Shares of a limit in whole per cent, 1 to 100; 10 at most. Default: `[80, 100]`. */
  percent?: readonly number[] | undefined;
  /**
   * Low balances of prepaid credits, in credits: one, or up to 10, each of them once. Of several that one charge falls to,
   * the lowest is reached. Default: none.
   */
  prepaid?: number | readonly number[] | undefined;
}

/** How a gateway uses a remote ledger. A ledger in this process's memory needs none of this. */
export interface LedgerOptions {
  /**
   * The time limit of a reservation in milliseconds, including repetitions after failures; beyond it a 503. Default: 1,000,
   * which is enough for one more try where a connection has died without a word.
   */
  reserveTimeoutMs?: number | undefined;
  /**
   * How long the end of a response waits for its settlement, in milliseconds. A settlement that takes longer goes on after it,
   * which needs {@link GatewayOptions.waitUntil} where the host ends the process then. Default: 250.
   */
  settleBeforeEndMs?: number | undefined;
  /**
   * How long a settlement, and any other operation, may take before it counts as failed, in milliseconds. To read a page of
   * a journal, to sum up usage or to forget an account may take 30 seconds. Default: 2,000.
   */
  settleTimeoutMs?: number | undefined;
  /**
   * What happens to calls while the ledger is away. `"deny"`: a 503. `"allow"`: all are admitted. `{ insure: { credits
   * } }`: each account may use this many credits until the ledger has responded to a reservation of it again. That
   * limit is for each process, and for up to 10,000 accounts. What the calls cost is charged when the ledger is back.
   * Default: `"deny"`.
   */
  onUnavailable?: "deny" | "allow" | { readonly insure: { readonly credits: number } } | undefined;
  /**
   * The most settlements to keep for a ledger that does not accept them. Beyond it the oldest are lost, each with an
   * event `settle_lost`. Default: 10,000.
   */
  maxKeptSettlements?: number | undefined;
  /**
   * After an outage of the ledger, the gateway repeats the settlements of this many last milliseconds: a store that
   * failed over may have lost them. 0: none. Default: 15,000.
   */
  replayMs?: number | undefined;
  /**
   * How long the gateway refuses an account without credits from memory, in milliseconds; 0: not at all. Where the
   * ledger has no notices, another process's grant takes effect at most this much later. Default: 2,000.
   */
  denialCacheMs?: number | undefined;
}
