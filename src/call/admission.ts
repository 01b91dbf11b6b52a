import type { Allowance, Caller } from "../access/accounts.js";
import type { CatalogModel } from "../access/catalog.js";
import type { Lease, WindowStates } from "../ledger/credit-ledger.js";
import type { Demand, ModelRequest } from "../operations/operation.js";

/** Credits that are held for one call. */
export interface Reservation {
  readonly lease: Lease;
  readonly windows: WindowStates;
}

/** All that is known of a call before anything is sent. Data only. */
export interface Admission {
  readonly requestId: string;
  readonly caller: Caller;
  readonly allowance: Allowance;
  readonly model: CatalogModel;
  readonly request: ModelRequest;
  readonly demand: Demand;
  /** `undefined`: the model is free, and the call touches no ledger. */
  readonly reservation: Reservation | undefined;
  /** Epoch milliseconds. */
  readonly admittedAt: number;
}
