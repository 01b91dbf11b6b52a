/** Where a gateway's process may die, as seen from its ledger. */
export const deathPoints = [
  "before the reservation is sent",
  "after the reservation is sent",
  "after the reservation is answered",
  "in the middle of a stream",
  "after the settlement is sent",
] as const;

export type DeathPoint = (typeof deathPoints)[number];

/** What a process has sent to its store, or got from it, about a call. */
export interface Crumb {
  step: "reserving" | "reserved" | "renewing" | "renewed" | "settling" | "settled";
  id: string;
  /** The hold, the cost so far, or the cost, in micro-credits. */
  micro: number;
}
