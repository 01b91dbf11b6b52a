/** What a process has sent to its store, or got from it, about a call. */
export interface Crumb {
  step: "reserving" | "reserved" | "denied" | "renewing" | "renewed" | "settling" | "settled";
  id: string;
  /** The hold, the cost so far, or the cost, in micro-credits. */
  micro: number;
}
