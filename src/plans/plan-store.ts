/** What the accounts of a plan may use, and how much of it. */
export interface Plan {
  /** Well-formed Unicode without control characters, at most 256 characters. */
  id: string;
  /** Exact model ids, or patterns in which `*` stands for any run of characters; each at most 256 characters. */
  models: readonly string[];
  /** The stock in credits per window. An absent or `null` window is unlimited; absent or `null` altogether: no limits. */
  credits?: PlanCredits | null | undefined;
  /** Length of a session in milliseconds, at least one minute. Default: 5 hours. */
  sessionMs?: number | null | undefined;
  /** Output tokens to expect, for the reservation, when a request caps nothing. Default: 4096. */
  defaultOutputTokens?: number | null | undefined;
  /** What becomes of answers whose clients leave. Default: what the model says. */
  disconnect?: DisconnectPolicy | null | undefined;
}

export interface PlanCredits {
  session?: number | null | undefined;
  week?: number | null | undefined;
  month?: number | null | undefined;
}

/** How far the answer of a client that has left is read on. */
export interface DrainLimits {
  /** The longest, in milliseconds from its departure. Default: 60,000. */
  maxMs?: number | undefined;
  /** The most output tokens of the whole answer; what is beyond them is broken off. Default: 4096. */
  maxTokens?: number | undefined;
}

/**
 * What becomes of an answer whose client leaves. `cancel`: the upstream is stopped; the prompt is charged, what was
 * received, and of a model that reasons a bound for what was not shown. `drain`, or limits of one's own: it is read on, and
 * what it really used is charged.
 */
export type DisconnectPolicy = "cancel" | "drain" | DrainLimits;

/** Finds plans by id. */
export interface PlanStore {
  /**
   * @returns the plan, or `undefined` or `null` when there is none: its keys then see no model.
   * @throws anything: the caller gets a 503.
   */
  find(id: string): Promise<Plan | null | undefined> | Plan | null | undefined;
  /** All plans, where they are at hand: the gateway then checks them when it is created. */
  list?(): Iterable<Plan>;
}

/** A {@link PlanStore} in which the gateway creates and changes plans. */
export interface WritablePlanStore extends PlanStore {
  find(id: string): Promise<Plan | undefined>;
  /** Creates the plan, or replaces the one of the same id. @throws TypeError when it is not valid. */
  put(plan: Plan): Promise<void>;
  /**
   * Calls back with the id of every plan that is put by any process that shares the store, as soon as it is known here;
   * absent where the store cannot tell. Does not keep the process alive by itself.
   * @returns ends the subscription; a promise where it takes time until changes are heard.
   */
  subscribe?(onChange: (id: string) => void): Promise<() => Promise<void>> | (() => Promise<void>);
}
