/** The result of a guard for one response, and how long it took. */
export interface GuardOutcome {
  /** The guard's name in the options. */
  name: string;
  /** `failed`: it threw, took too long, or returned what is not valid, or could not be given the answer. */
  verdict: "passed" | "refused" | "failed";
  /** Its own code for a refusal; absent when it gave none. */
  code?: string;
  durationMs: number;
}
