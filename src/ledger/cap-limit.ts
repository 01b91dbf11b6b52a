import type { Micro } from "../metering/micro.js";
import type { Bounds } from "./bounds.js";

/** The most caps of a reservation. */
export const mostCaps = 16;

/** The spans for which a cap can limit charges. `total` never ends. */
export type CapWindow = "day" | "week" | "month" | "total";

/** A limit within an account, such as that of an API key. Each reservation carries the caps that it counts in. */
export interface CapLimit {
  /** Names the counter within its account: as a {@link ReserveRequest}'s id. Another window needs another id. */
  id: string;
  window: CapWindow;
  limitMicro: Micro;
  /** As those of a calendar window; of `total` {@link totalBounds}. */
  bounds: Bounds;
}

/** A cap as the store has it now. Times are epoch milliseconds. */
export interface CapState {
  id: string;
  window: CapWindow;
  limitMicro: Micro;
  /** Settled charges of the current instance, whatever funded them. */
  usedMicro: Micro;
  /** Open reservations of the current instance. */
  heldMicro: Micro;
  /** `null`: no instance is known that is open. */
  startsAt: number | null;
  /** `null`: never, or no instance is open. */
  resetsAt: number | null;
}

/** A cap in which an admitted reservation counts, and its instance at the admission. */
export interface LeasedCap {
  readonly id: string;
  readonly window: CapWindow;
  readonly limitMicro: Micro;
  readonly start: number;
  readonly end: number;
}

/** Why a cap denies. */
export interface BlockedCap {
  id: string;
  window: CapWindow;
  /** `used`: wait for its reset. `held`: calls in progress hold the rest. */
  cause: "used" | "held";
  /** Epoch milliseconds, later than the store's now. `null`: never. */
  availableAt: number | null;
}
