import type { Allowance } from "../access/allowance.js";
import type { ApplyBudgets } from "../access/budgets/budget-resolver.js";
import type { Lookup } from "../access/cached-lookup.js";
import type { CurrentCatalog } from "../access/catalog.js";
import type { Entitlements } from "../access/entitlement.js";
import type { HoldRooms } from "../access/hold-room.js";
import type { FirstTimes, Warn } from "../events/warning.js";
import type { OnRequest } from "../hooks/admission.js";
import type { ResponseGuards } from "../hooks/guard-round.js";
import type { BodyOptions } from "../http/request-body.js";
import type { Clock } from "../ledger/calendar.js";
import type { CreditLedger } from "../ledger/credit-ledger.js";
import type { TimeLimit } from "../ledger/guard/time-limit.js";
import type { OperationServices } from "../protocols/shared/operation.js";
import type { BackgroundWork } from "../runtime/background-work.js";
import type { RepeatedDenials } from "./admission/repeated-denial.js";
import type { EndUserIds } from "./end-user-ids.js";
import type { LeaseKeeper } from "./lease-keeper.js";
import type { OpenCalls } from "./open-calls.js";
import type { OwnKeyRests } from "./own-key-rests.js";
import type { RequestIds } from "./request-id.js";

/** Limits of one response between upstream and client. */
export interface RelayLimits {
  /** The largest whole response, in bytes. */
  readonly maxResponseBytes: number;
  /** The largest event of a stream, in bytes. */
  readonly maxEventBytes: number;
  /** After this much silence, the client gets a keep-alive, in milliseconds. */
  readonly keepAliveMs: number;
  /** The longest time that a response may take, in milliseconds. `undefined`: no limit. */
  readonly maxResponseMs: number | undefined;
}

/** What all calls use. Made once for each gateway. */
export interface CallServices {
  readonly catalog: CurrentCatalog;
  readonly findAllowance: Lookup<Allowance>;
  readonly applyBudgets: ApplyBudgets;
  readonly entitlements: Entitlements;
  readonly ledger: CreditLedger;
  readonly keeper: LeaseKeeper;
  readonly holdRooms: HoldRooms;
  readonly denials: RepeatedDenials;
  readonly leaseMs: number;
  readonly openCalls: OpenCalls;
  readonly requestIds: RequestIds;
  /** Gets settlements that are kept. */
  readonly background: BackgroundWork;
  readonly clock: Clock;
  readonly warn: Warn;
  /** The same for what is said once. */
  readonly warnOnce: Warn;
  /** Targets of which the host was warned that they cost more than is held. */
  readonly costlyTargets: FirstTimes;
  readonly body: BodyOptions;
  /** Of forms with files. */
  readonly uploads: BodyOptions;
  readonly operations: OperationServices;
  readonly limits: RelayLimits;
  /** Whether clients see in the usage what a call costs. */
  readonly exposesCost: boolean;
  /** Whether upstreams get the trace that a request belongs to. */
  readonly forwardsTrace: boolean;
  /** What upstreams know accounts by; `undefined`: they are told nothing of them. */
  readonly endUserIds: EndUserIds | undefined;
  /** `undefined`: the host has none. */
  readonly requestHook: RequestHook | undefined;
  /** How long the providers' `ownKey` may take. */
  readonly ownKeyLimit: TimeLimit;
  readonly ownKeyRests: OwnKeyRests;
  /** `undefined`: the host has none. */
  readonly responseGuards: ResponseGuards | undefined;
}

/** The host's hook before each call, and how long it may take. */
export interface RequestHook {
  readonly onRequest: OnRequest;
  readonly limit: TimeLimit;
}
