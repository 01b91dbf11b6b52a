import type { Allowance } from "../access/allowance.js";
import type { Caller } from "../access/caller.js";
import type { CatalogModel } from "../access/catalog.js";
import type { Demand, ModelRequest } from "../operations/operation.js";

/** Everything that is known of a call before its credits are held. Data only. */
export interface Admission {
  /** What client, host and upstream know the request by. A host may give the same one twice. */
  readonly requestId: string;
  /** Unique: the ledger's id of the call, and what ids of responses are made of. */
  readonly callId: string;
  readonly caller: Caller;
  readonly allowance: Allowance;
  readonly model: CatalogModel;
  readonly request: ModelRequest;
  readonly demand: Demand;
  /** Epoch milliseconds. */
  readonly admittedAt: number;
}
