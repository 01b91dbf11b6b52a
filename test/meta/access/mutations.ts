import type { Mutation } from "../mutation/mutation.js";

/** Of what is worked out once for a caller and a model. */
export const mutations: readonly Mutation[] = [
  {
    name: "an account's models restrict nobody",
    find: "if (caller.accountModels !== undefined && !caller.accountModels.has(modelId)) return false;",
    replace: "",
    test: "account-models",
  },
  {
    name: "a key keeps what its plan has lost",
    find: "last !== undefined && last.allowance === found &&",
    replace: "last !== undefined &&",
    test: "entitlement",
  },
  {
    name: "a key keeps a model that the catalog has lost",
    find: "&& last.model === model;",
    replace: ";",
    test: "entitlement",
  },
  {
    name: "a caller keeps the terms that its account has lost",
    find: "if (last?.account === account) return last.caller;",
    replace: "if (last !== undefined) return last.caller;",
    test: "caller-resolver",
  },
  {
    name: "all that is left may be held without counting",
    find: "return left * part - held;",
    replace: "return left - held;",
    test: "hold-room",
  },
  {
    name: "what one call has taken of the room is there for the next",
    find: "    this.#micro -= micro;\n",
    replace: "",
    test: "hold-room",
  },
  {
    name: "what is on its way to the ledger holds nothing",
    find: " - this.#underWay;",
    replace: ";",
    test: "hold-room",
  },
  {
    name: "an account with prepaid credits holds without counting",
    find: "prepaid === undefined ? roomIn(windows)",
    replace: "true ? roomIn(windows)",
    test: "hold-room",
  },
  {
    name: "a tag has the budgets of its account and of its plan",
    find: "pickBudgets(this.#tags, ofPlan).filter(({ tag }) => !taken.has(tag))",
    replace: "pickBudgets(this.#tags, ofPlan)",
    test: "known-budgets",
  },
  {
    name: "the budgets of another plan stay",
    find: "this.#last === undefined || this.#last.ofPlan !== ofPlan",
    replace: "this.#last === undefined",
    test: "known-budgets",
  },
  {
    name: "an account that was forgotten finds what it had before",
    find: "      this.#others = ++this.#newest;\n",
    replace: "",
    test: "known-budgets",
  },
  {
    name: "a suspended budget suspends nobody",
    find: "for (const { suspension } of budgets.each) if (suspension !== undefined) throw suspended(suspension);",
    replace: "",
    test: "../gateway/budgets/budgets",
  },
  {
    name: "a budget excludes no model",
    find: "return caller.budgets === undefined || caller.budgets.allow(modelId);",
    replace: "return true;",
    test: "../gateway/budgets/budgets",
  },
  {
    name: "the caps of a budget limit nothing",
    find: "caps: KeyCaps.together([caller.caps, budgets.caps])",
    replace: "caps: caller.caps",
    test: "../gateway/budgets/budgets",
  },
  {
    name: "the cap of a key goes away under a budget",
    find: "caps: KeyCaps.together([caller.caps, budgets.caps])",
    replace: "caps: budgets.caps",
    test: "../gateway/budgets/budgets",
  },
  {
    name: "the rates of a budget limit nothing",
    find: "caller.budgets === undefined ? rules : [...rules, ...caller.budgets.rules(modelId)]",
    replace: "rules",
    test: "../gateway/budgets/budgets",
  },
  {
    name: "a changed budget is found as it was",
    find: "    forget: (account) => generations.next(account),",
    replace: "    forget: () => {},",
    test: "../gateway/budgets/budgets",
  },
];

/** Of which budget counts. */
export const budgetMutations: readonly Mutation[] = [
  {
    name: "a budget of each value goes before that of the value",
    find: "byField.get(budgetField({ tag, value })) ?? byField.get(budgetField({ tag }))",
    replace: "byField.get(budgetField({ tag })) ?? byField.get(budgetField({ tag, value }))",
    test: "known-budgets",
  },
];
