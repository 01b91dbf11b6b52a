import type { Rates } from "../../prices/rates.js";
import type { Budget } from "../budgets/budget-store.js";

/** What the accounts of a plan may use, and how much of it. */
export interface Plan {
  /** Well-formed Unicode without control characters, at most 256 characters. */
  id: string;
  /** Exact model ids, or patterns in which `*` stands for any run of characters; each at most 256 characters. */
  models: readonly string[];
  /**
   * The credits per window. An absent or `null` window is unlimited. Without this member, or with `null`, no window is
   * limited.
   */
  credits?: PlanCredits | null | undefined;
  /** Length of a session in milliseconds, at least one minute. Default: 5 hours. */
  sessionMs?: number | null | undefined;
  /**
   * The output cap, in tokens, of requests that name none: they are sent to the model with it, and hold it. A model's
   * `maxOutputTokens` still limits it. Default: none. Then nothing is written into such requests, and the longest output
   * of the model is held.
   */
  defaultOutputTokens?: number | null | undefined;
  /** What to do with responses whose clients leave. Default: the model's setting. */
  disconnect?: DisconnectPolicy | null | undefined;
  /** Rate limits of each account of the plan, over all its keys. Default: none. */
  rates?: Rates | null | undefined;
  /**
   * What the prices of its calls are multiplied by, such as 0.8 or 1.25: greater than 0, at most 1000, with at most 6
   * decimals. The product is exact; each call is rounded up once, to a whole micro-credit. An account's own replaces it. Default: 1.
   */
  priceFactor?: number | null | undefined;
  /**
   * What the prices of calls with an account's own key are multiplied by, in place of every other factor: at least 0, at most
   * 1000, with at most 6 decimals. That of a target replaces it. Default: 0, such calls cost nothing. See `docs/own-keys.md`.
   */
  ownKeyPriceFactor?: number | null | undefined;
  /**
   * Budgets of each account of the plan, for tags of which the account has none of its own: neither of the value, nor of
   * each value. At most 100. Default: none.
   */
  budgets?: readonly Budget[] | null | undefined;
}

export interface PlanCredits {
  session?: number | null | undefined;
  week?: number | null | undefined;
  month?: number | null | undefined;
}

/** How much of a response to keep reading after its client left. */
export interface DrainLimits {
  /** The longest, in milliseconds from its departure. Default: 60,000. */
  maxMs?: number | undefined;
  /** The most output tokens of the whole response. At the limit the gateway breaks the response off. Default: 4096. */
  maxTokens?: number | undefined;
}

/**
 * What to do with a response whose client leaves.
 * - `cancel`: stop the upstream. The account pays for the prompt and for what arrived. For a model that reasons it also
 *   pays a bound for the reasoning that the upstream did not show.
 * - `drain`, or limits of your own: keep reading. The account pays for what the response really used.
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

/** A {@link PlanStore} in which the gateway creates, changes and deletes plans. */
export interface WritablePlanStore extends PlanStore {
  find(id: string): Promise<Plan | undefined>;
  /** Creates the plan, or replaces the one of the same id. @throws TypeError when it is not valid. */
  put(plan: Plan): Promise<void>;
  /** All plans, in any order. */
  listAll(): Promise<readonly Plan[]>;
  /** Deletes the plan. @returns whether there was one. */
  delete(id: string): Promise<boolean>;
  /**
   * Calls `onChange` with the id of every plan that any process puts into the shared store or deletes from it, as soon as this process
   * gets the notice. Absent where the store has no such notices. Does not keep the process alive.
   * @returns ends the subscription. A promise where it takes time until notices arrive.
   */
  subscribe?(onChange: (id: string) => void): Promise<() => Promise<void>> | (() => Promise<void>);
}

/** How much of a response to keep reading after its client left, with the defaults filled in. */
export interface ResolvedDrainLimits {
  readonly maxMs: number;
  readonly maxTokens: number;
}

export function toDrainLimits(policy: DisconnectPolicy): ResolvedDrainLimits | "cancel" {
  if (policy === "cancel") return policy;
  const { maxMs = 60_000, maxTokens = 4096 } = policy === "drain" ? {} : policy;
  return { maxMs, maxTokens };
}
