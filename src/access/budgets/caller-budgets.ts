import { KeyCaps } from "../key-caps.js";
import type { RateRule } from "../rate-rules.js";
import type { TagBudget } from "./tag-budget.js";

/** The budgets that limit a caller: of each of its tags one at most. */
export class CallerBudgets {
  readonly each: readonly TagBudget[];
  /** What all of them may cost. */
  readonly caps: KeyCaps | undefined;

  constructor(each: readonly TagBudget[]) {
    this.each = each;
    this.caps = KeyCaps.together(each.map(({ caps }) => caps));
  }

  /** Whether none of them excludes the model. */
  allow(modelId: string): boolean {
    return this.each.every(({ models }) => models === undefined || models.has(modelId));
  }

  rules(modelId: string): readonly RateRule[] {
    return this.each.flatMap(({ rates }) => rates?.for(modelId) ?? []);
  }
}
