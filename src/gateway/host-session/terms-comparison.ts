import type { Warn } from "../../events/warning.js";
import type { TimeLimit } from "../../guard/time-limit.js";
import type { AccountTermsLookup, FoundTerms, GivenTerms } from "../admin/account-terms.js";

interface ComparisonServices {
  readonly terms: AccountTermsLookup;
  readonly timeLimit: TimeLimit;
  readonly warnOnce: Warn;
}

/** The most accounts to remember as compared. The ones that came first are forgotten, and compared again. */
const mostRemembered = 10_000;

/**
 * Compares the plan and anchor that a session gives an account with those of its API keys. Where they differ, the
 * account has two limits, or two sets of windows, by how it calls.
 *
 * An account is compared once for each plan and anchor that its sessions give it. No request waits for it.
 */
export class TermsComparison {
  readonly #services: ComparisonServices;
  readonly #compared = new Set<string>();

  constructor(services: ComparisonServices) {
    this.#services = services;
  }

  /** @param given - what the session itself says; the rest of `terms` is from the keys already. */
  compare({ account, plan, anchor }: GivenTerms & { readonly account: string }, terms: FoundTerms): void {
    if (plan === undefined && anchor === undefined) return;
    const name = JSON.stringify([account, terms.plan, terms.anchor]);
    if (this.#compared.has(name)) return;
    this.#remember(name);
    this.#warnIfDiffering(account, terms).catch(() => {
      // The key store failed. Another request may find it well.
      this.#compared.delete(name);
    });
  }

  #remember(name: string): void {
    const [first] = this.#compared;
    if (first !== undefined && this.#compared.size >= mostRemembered) this.#compared.delete(first);
    this.#compared.add(name);
  }

  async #warnIfDiffering(account: string, { plan, anchor }: FoundTerms): Promise<void> {
    const { terms, timeLimit, warnOnce } = this.#services;
    const ofKeys = await timeLimit.race(terms.ofEachKey(account));
    const differing = [
      ...(ofKeys.some((key) => key.plan !== undefined && key.plan !== plan) ? ["plan"] : []),
      ...(ofKeys.some((key) => key.anchor !== anchor) ? ["anchor"] : []),
    ];
    if (differing.length === 0) return;
    warnOnce({
      code: "terms_differ",
      message:
        `\`identify\` gives the account "${account}" another ${differing.join(" and another ")} than its API keys have. ` +
        "Its credits are then counted in two ways. Give both the same, or leave `plan` and `anchor` out of the identity.",
    });
  }
}
