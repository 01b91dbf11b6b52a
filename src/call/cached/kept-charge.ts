import type { Micro } from "../../metering/micro.js";

/** What a response costs that was kept from an earlier call. */
export interface KeptCharge {
  readonly micro: Micro;
  /** What the earlier call was charged. */
  readonly keptMicro: Micro;
  /** The share of it that this one costs. */
  readonly share: number;
}
