import type { Demand } from "../clients/traffic.js";

/**
 * - `asked`: its reservation has no result yet.
 * - `unavailable`: a 503. The store may have held something for it all the same.
 * - `ended`: it has cost what it costs. Its settlement may be under way, or kept.
 * - `killed`: its process died before its end.
 */
export type CallState = "asked" | "denied" | "unavailable" | "underWay" | "ended" | "killed";

/** A call, as it really was. */
export interface Call extends Demand {
  readonly id: string;
  state: CallState;
  startedAt: number;
  /** What it has cost, up to its end or death. */
  spentMicro: number;
  /** When the store ends what it holds for it, unless it is renewed; `undefined`: it holds nothing. */
  heldUntil: number | undefined;
  /** Since when its hold has blocked credits though its process is dead. */
  blockedSince: number | undefined;
  isOfDead: boolean;
}

export function accountId(account: number): string {
  return `acct_${account}`;
}

/** What a call has cost by a moment of virtual time. */
export function observedMicro(call: Call, now: number): number {
  const progress = Math.min(1, (now - call.startedAt) / call.durationMs);
  return Math.floor(call.costMicro * progress);
}
