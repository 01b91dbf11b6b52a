import type { GatewayRequest, GatewayResponse } from "../http/message.js";
import type { SentRequest } from "../server/unserved-path.js";
import type { ManagedAudit } from "./admin/audit.js";
import type { ManagedAccounts } from "./admin/managed-accounts.js";
import type { ManagedBudgets } from "./admin/managed-budgets.js";
import type { ManagedKeys } from "./admin/managed-keys.js";
import type { ManagedPlans } from "./admin/managed-plans.js";
import type { GatewayHealth } from "./gateway-health.js";
import type { OwnRequest } from "./identity/identified-callers.js";
import type { InProcess, InProcessCaller } from "./in-process/in-process.js";
import type { CatalogChange } from "./models/live-catalog.js";
import type { ManagedModels } from "./models/managed-models.js";
import type { ManagedRequests } from "./request-log/managed-requests.js";
import type { UsageRecord } from "./usage/gateway-usage.js";
import type { UsageQuery } from "./usage/usage-query.js";

export { AbortNotifier } from "../call/abort-notifier.js";
export { NodeHostRequest } from "../http/host-request.js";
export type { BodyLimits, GatewayRequest, GatewayResponse, WaitUntil } from "../http/message.js";
export { BodyError } from "../http/message.js";
export { ArrivingBody, type BodyShape, inOnePiece, inPieces } from "../http/request-body.js";
export { StallTimer } from "../http/stall-timer.js";
export type { SentRequest } from "../server/unserved-path.js";
export { type PieceReader, type PieceSource, pieceSourceOf, readPiece } from "../wire/piece-source.js";

/** What a host gives beside a web-standard request: the context of a Worker, Netlify or Vercel. */
export interface HostContext {
  /** Keeps the host from ending before this work has: see {@link GatewayOptions.waitUntil}. */
  waitUntil?: ((work: Promise<unknown>) => void) | undefined;
}

/** What the adapters mount: a gateway, or a page of `infergate/pages`. */
export interface Mountable {
  /**
   * Serves a web-standard request. A path that is not its own gets a 404. Never rejects. The path is matched after
   * `basePath`, see {@link GatewayOptions.basePath}.
   * @param context - with the host's own `waitUntil`, which counts where {@link GatewayOptions.waitUntil} is absent.
   */
  handler(request: Request, context?: HostContext): Promise<Response>;
  /**
   * Whether the path is its own (undecoded, without query, from where it is mounted). Of a gateway, any other path gets
   * 404 `unknown_url`; all paths are a page's.
   */
  serves(path: string): boolean;
  /** The paths that {@link Mountable.serves}, for hosts that register routes: `*` stands for the rest of the path. */
  readonly routes: readonly string[];
  /** {@link GatewayOptions.maxStallMs}, for adapters: they notice when a client takes nothing of its response. */
  readonly maxStallMs: number;
  /**
   * {@link GatewayOptions.basePath} in its resolved form: `""`, or a path with a leading slash and without a trailing
   * one.
   */
  readonly basePath: string;
}

/** An inference gateway, ready to be mounted. */
export interface Gateway extends Mountable {
  /**
   * Calls the gateway from within its process, for an account of the host's: without HTTP, and without an API key. The
   * calls are limited, charged and reported to the hooks as any other.
   * @throws TypeError when what is given is not valid.
   *
   * @example
   * ```ts
   * const { baseURL, fetch } = gateway.as({ account: user.id, plan: "pro" });
   * const client = new OpenAI({ baseURL, fetch, apiKey: "none" });
   * ```
   */
  as(caller: InProcessCaller): InProcess;
  /**
   * Finds by {@link GatewayOptions.identify} who a request to a route of your own is from, for {@link Gateway.as}. It takes
   * what the framework calls a request, and reads neither its body nor an API key. Plan and anchor are those that count: the
   * account's record wins, as for requests to the gateway. Tags are those of the identity; the journal files charges under
   * `session`.
   * @returns `null` where nobody is signed in.
   * @throws GatewayError (as a rejection) with the status of the gateway's own response: 403 for a request of another origin,
   * a suspended account and one without a plan, 503 where `identify` or a store fails. TypeError without `identify`.
   *
   * @example
   * ```ts
   * const caller = await gateway.caller(request);
   * if (caller === null) return new Response("Please sign in.", { status: 401 });
   * const { baseURL, fetch } = gateway.as(caller);
   * ```
   */
  caller(request: OwnRequest): Promise<InProcessCaller | null>;
  /** Creates and changes API keys. */
  readonly keys: ManagedKeys;
  /** Creates and changes plans. */
  readonly plans: ManagedPlans;
  /** Limits what calls of an account with a tag may use, such as those of a member. */
  readonly budgets: ManagedBudgets;
  /** Adds, changes and removes models at run time, for all processes. Needs {@link GatewayOptions.modelStore}. */
  readonly models: ManagedModels;
  /** The accounts' credits: balance, top-up, reset, journal, usage, deletion. */
  readonly accounts: ManagedAccounts;
  /** What the host's code has changed by these, where the gateway has {@link GatewayOptions.audit}. */
  readonly audit: ManagedAudit;
  /** The requests that {@link GatewayOptions.requestLog} keeps. */
  readonly requests: ManagedRequests;
  /**
   * The usage of one account, of some or of all: of a time, or of each hour or day of it in a time zone, by accounts, plans,
   * models, targets, keys, who paid, and your tags. Calls of free models are not in it. Without `by` and `every` it is one
   * record. Those of earlier periods come first. With {@link GatewayOptions.requestLog} it has refusals and failures, too; `refusals: true` gives records that have nothing else.
   * @throws TypeError when the query is not valid, and when the ledger keeps no journal or cannot tell which accounts it has;
   * LedgerUnavailableError when the ledger fails; GatewayError 503 when the account store or the request log does.
   *
   * @example
   * ```ts
   * await gateway.usage({ from: "2026-03-01", to: "2026-04-01", by: ["model"], where: { plan: "pro" } });
   * ```
   */
  usage(query?: UsageQuery): Promise<readonly UsageRecord[]>;
  /** The health of the models' targets and of the ledger, as this process sees it. It sends no request. */
  health(): GatewayHealth;
  /**
   * Replaces models, providers, or both, in one step, while calls go on. Each call keeps the model, price and targets of
   * its admission. A target of the same model, provider and upstream model keeps its breaker, its counts and its
   * connections. A provider that is removed is closed when its last call has ended. Models of {@link GatewayOptions.modelStore}
   * stay in force before those of the options. See `docs/models.md`.
   * @throws TypeError as `createGateway` does; GatewayError 503 after {@link close}, and when the plan store fails or lists a
   * plan that is not valid. Then nothing has changed.
   *
   * @example
   * ```ts
   * gateway.update({ models: [...models, { ...small, id: "acme/new" }] });
   * ```
   */
  update(change: CatalogChange): void;
  /**
   * Announces the end to load balancers: `GET /readyz` is a 503 from now on, and everything else still works. Wait until
   * they send no more requests, then call {@link close}. There is no way back.
   */
  drain(): void;
  /**
   * Resolves when the requests that are under way now have ended, and what they leave behind is written: settlements, lines of
   * the request log, uses of keys; and the host's hooks have returned. For hosts that freeze a process between requests (on
   * Lambda, call it before your handler ends), and for tests. What lasts longer than `maxMs` is not waited for.
   * @param maxMs - in milliseconds. Default: 30,000. `Infinity`: as long as it takes, up to 24 days.
   * @throws RangeError when `maxMs` is not a number of at least 0.
   */
  idle(maxMs?: number): Promise<void>;
  /**
   * Ends the leases of calls whose process died: what they had used by their last sign of life is charged, and the rest of
   * their holds is free again. A gateway does this by itself every 20 seconds, but not on Workers, and not while its process is
   * frozen: call it from a cron there. Safe in any number of processes at once.
   * @returns how many leases have ended. 0 for a ledger in this process's memory.
   * @throws LedgerUnavailableError when the ledger fails.
   */
  sweep(): Promise<number>;
  /**
   * Closes the gateway. It refuses new calls with 503, and lets open responses end for {@link
   * GatewayOptions.closeGraceMs}. Then it ends streams with an error chunk, and settles everything. Resolves when
   * everything is settled. Repeated calls return the same promise.
   */
  close(): Promise<void>;
}

/** In the global symbol registry: an adapter may be loaded from the other module format of this package. */
export const handle: unique symbol = Symbol.for("infergate.handle");

/** In the global symbol registry, as {@link handle}. */
export const tells: unique symbol = Symbol.for("infergate.tells");

/** What is mounted, as adapters call it: by its host-neutral method. */
export interface MountedHandler extends Mountable {
  /** Never rejects. */
  [handle](request: GatewayRequest): Promise<GatewayResponse>;
  /**
   * Whether it answers a request for a path that it does not serve, to tell a client that its base URL is wrong. Other
   * requests are the app's.
   * @param isBelowPrefix - whether it is mounted below a prefix, which the path does not have any more.
   */
  [tells](path: string, request: SentRequest, isBelowPrefix: boolean): boolean;
}

/** A gateway as `createGateway` makes it and adapters take it. */
export interface MountableGateway extends Gateway, MountedHandler {}

/** @throws TypeError when it can not be mounted: at once, not on the first request. */
export function requireMountable(adapter: string, given: Mountable): MountedHandler {
  if (isMounted(given)) return given;
  throw new TypeError(
    `${adapter}: pass the gateway that createGateway() made, as in ${adapter}(gateway), or a page of infergate/pages.`,
  );
}

function isMounted(given: Partial<MountedHandler> | undefined): given is MountedHandler {
  return typeof given?.[handle] === "function";
}
