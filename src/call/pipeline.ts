import type { Allowance, Caller } from "../access/accounts.js";
import type { Lookup } from "../access/cached-lookup.js";
import type { Catalog } from "../access/catalog.js";
import type { RequestCompleted } from "../events/request-completed.js";
import type { Warn } from "../events/warning.js";
import type { CorsOptions } from "../http/cors.js";
import type { PendingBodies } from "../http/pending-bodies.js";
import type { AtOnceLedger } from "../ledger/at-once-ledger.js";
import type { Clock } from "../ledger/clock.js";
import type { LeaseKeeper } from "./lease-keeper.js";
import type { InFlight } from "./open-calls.js";

export interface RelayOptions {
  /** The largest whole answer, in bytes. */
  maxAnswerBytes: number;
  /** The largest event of a stream, in bytes. */
  maxEventBytes: number;
  /** A comment is sent after this much silence. */
  keepAliveMs: number;
}

/** Everything that the pipeline works with, resolved at construction. */
export interface Pipeline extends RelayOptions {
  readonly catalog: Catalog;
  readonly findCaller: Lookup<Caller>;
  readonly findAllowance: Lookup<Allowance>;
  readonly ledger: AtOnceLedger;
  readonly keeper: LeaseKeeper;
  readonly inFlight: InFlight;
  readonly clock: Clock;
  readonly warn: Warn;
  readonly completed: ((event: RequestCompleted) => void) | undefined;
  readonly maxBodyBytes: number;
  readonly maxBodyDepth: number;
  readonly bodyTimeoutMs: number;
  readonly minBodyBytesPerSecond: number;
  readonly pendingBodies: PendingBodies;
  /** `undefined`: as long as it takes. */
  readonly maxAnswerMs: number | undefined;
  readonly leaseMs: number;
  readonly cors: CorsOptions | undefined;
}
