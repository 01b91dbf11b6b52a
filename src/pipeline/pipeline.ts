import type { AtOnceLedger } from "../ledger/at-once-ledger.js";
import type { Clock } from "../ledger/clock.js";
import type { Allowance, Caller } from "./accounts.js";
import type { Lookup } from "./cached-lookup.js";
import type { Catalog } from "./catalog.js";
import type { CorsOptions } from "./cors.js";
import type { InFlight } from "./in-flight.js";
import type { LeaseKeeper } from "./lease-keeper.js";
import type { PendingBodies } from "./pending-bodies.js";
import type { RequestCompleted } from "./request-completed.js";
import type { Warn } from "./warning.js";

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
