import type { CurrentCatalog } from "../../access/catalog.js";
import { ModelPatterns } from "../../access/model-patterns.js";
import { warnOfUnmatched } from "../../access/warn-of-unmatched.js";
import type { AccountChange } from "../../accounts/account-store.js";
import type { Budget } from "../../budgets/budget-store.js";
import type { Warn } from "../../events/warning.js";
import type { FollowedModels } from "../stored-models/model-feed.js";
import type { WarnOfUnknownPlan } from "../unknown-plan.js";

interface Written extends Pick<AccountChange, "plan" | "models"> {
  readonly id: string;
  readonly budgets?: readonly Budget[] | undefined;
}

/** Warns of what was written of an account or of its budgets, but may be misspelled. Never rejects. */
export type WarnOfRecord = (by: string, written: Written) => Promise<void>;

interface WarningServices {
  readonly catalog: CurrentCatalog;
  /** `undefined`: no store has models. */
  readonly feed: Pick<FollowedModels, "ready"> | undefined;
  readonly warn: Warn;
}

export function recordWarning(
  warnOfUnknownPlan: WarnOfUnknownPlan,
  { catalog, feed, warn }: WarningServices,
): WarnOfRecord {
  return async (by, { id, plan, models, budgets }) => {
    if (plan !== undefined) await warnOfUnknownPlan(by, plan);
    if (!models && budgets === undefined) return;
    try {
      await feed?.ready();
    } catch {
      // Nothing is known of the models of the store.
      return;
    }
    const patterns = models ? new ModelPatterns(models) : undefined;
    warnOfUnmatched({ account: id, models: patterns, budgets }, catalog.current, warn);
  };
}
