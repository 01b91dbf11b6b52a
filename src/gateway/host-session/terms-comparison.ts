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
 * Compares the plan and anchor that a session gives an account with those of its record, which count in place of them.
 * For an account without a record, with those of its API keys: where these differ, the account has two limits, or two
 * sets of windows, by how it calls.
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
    const record = await timeLimit.race(terms.ofRecord(account));
    const others = record === undefined ? await timeLimit.race(terms.ofEachKey(account)) : [record];
    const differing = [
      ...(others.some((other) => other.plan !== undefined && other.plan !== plan) ? ["plan"] : []),
      ...(others.some((other) => other.anchor !== anchor) ? ["anchor"] : []),
    ];
    if (differing.length === 0) return;
    const given = `\`identify\` gives the account "${account}" another ${differing.join(" and another ")} than`;
    const message =
      record === undefined
        ? `${given} its API keys have. Its credits are then counted in two ways. Give both the same, or leave \`plan\` ` +
          "and `anchor` out of the identity."
        : `${given} its record has. The record counts. Leave \`plan\` and \`anchor\` out of the identity, or change the ` +
          "record with gateway.accounts.update.";
    warnOnce({ code: "terms_differ", message });
  }
}
