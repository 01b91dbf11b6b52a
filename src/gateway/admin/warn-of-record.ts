import type { CurrentCatalog } from "../../access/catalog.js";
import { ModelPatterns } from "../../access/model-patterns.js";
import { warnOfUnmatched } from "../../access/warn-of-unmatched.js";
import type { AccountChange } from "../../accounts/account-store.js";
import type { Warn } from "../../events/warning.js";
import type { ModelFeed } from "../stored-models/model-feed.js";
import type { WarnOfUnknownPlan } from "../unknown-plan.js";

type Written = Pick<AccountChange, "plan" | "models"> & { readonly id: string };

/** Warns of what was written of an account, but may be misspelled. Never rejects. */
export type WarnOfRecord = (by: string, written: Written) => Promise<void>;

interface WarningServices {
  readonly catalog: CurrentCatalog;
  /** `undefined`: no store has models. */
  readonly feed: Pick<ModelFeed, "ready"> | undefined;
  readonly warn: Warn;
}

export function recordWarning(
  warnOfUnknownPlan: WarnOfUnknownPlan,
  { catalog, feed, warn }: WarningServices,
): WarnOfRecord {
  return async (by, { id, plan, models }) => {
    if (plan !== undefined) await warnOfUnknownPlan(by, plan);
    if (!models) return;
    try {
      await feed?.ready();
    } catch {
      // Nothing is known of the models of the store.
      return;
    }
    warnOfUnmatched({ account: id, models: new ModelPatterns(models) }, catalog.current, warn);
  };
}
