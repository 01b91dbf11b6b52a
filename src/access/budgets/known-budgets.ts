import type { Tags } from "../../prices/tags.js";
import { type CheckedBudget, pickBudgets } from "../../records/budgets/budget-schema.js";
import { CallerBudgets } from "./caller-budgets.js";
import { toTagBudget } from "./tag-budget.js";

type PlanBudgets = readonly CheckedBudget[] | undefined;

/** What an account has for some tags: its own budgets, and under a plan those of the plan, too. */
export class KnownBudgets {
  readonly #tags: Tags;
  readonly #own: readonly CheckedBudget[];
  #last: { readonly ofPlan: PlanBudgets; readonly budgets: CallerBudgets | undefined } | undefined;

  /** @param own - the account's, which may hold more than the tags need. */
  constructor(tags: Tags, own: readonly CheckedBudget[]) {
    this.#tags = tags;
    this.#own = pickBudgets(tags, own);
  }

  /**
   * Of each tag one budget, as a whole: the account's own of the value, or that of each value, or the plan's of the value, or
   * that of each value.
   * @returns the same object while the plan's budgets are the same; `undefined` where there is no budget.
   */
  under(ofPlan: PlanBudgets): CallerBudgets | undefined {
    if (this.#last === undefined || this.#last.ofPlan !== ofPlan) {
      this.#last = { ofPlan, budgets: this.#compile(ofPlan ?? []) };
    }
    return this.#last.budgets;
  }

  #compile(ofPlan: readonly CheckedBudget[]): CallerBudgets | undefined {
    const taken = new Set(this.#own.map(({ tag }) => tag));
    const rest = pickBudgets(this.#tags, ofPlan).filter(({ tag }) => !taken.has(tag));
    const tagged = (tag: string) => this.#tags[tag] ?? "";
    const each = [
      ...this.#own.map((budget) =>
        toTagBudget(budget, tagged(budget.tag), (budget.value ?? undefined) === undefined ? "account" : "own"),
      ),
      ...rest.map((budget) => toTagBudget(budget, tagged(budget.tag), "plan")),
    ];
    return each.length === 0 ? undefined : new CallerBudgets(each);
  }
}
