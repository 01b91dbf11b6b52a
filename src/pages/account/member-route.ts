import type { UsageRecord } from "../../gateway/usage/gateway-usage.js";
import { unlessUnsupported } from "../server/is-unsupported.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import { toCredits, toSeconds } from "../server/units.js";
import type { Reader } from "./account-identity.js";
import { budgetMeters } from "./account-meters.js";
import type { AccountMember } from "./account-page-api.js";
import type { AccountServices } from "./account-services.js";
import { requireOwner } from "./book-routes.js";
import { readerTerms } from "./reader-terms.js";

const shownMs = 30 * 86_400_000;
/** Each is asked for its budget. */
const mostMembers = 100;

/** The members of the account, those who used the most first, with their budgets. */
export function memberRoute({ gateway, clock, memberTag }: AccountServices): PageRoute<Reader> {
  return pageRoute<Reader>({
    method: "GET",
    path: "members",
    async answer({ identity }) {
      requireOwner(identity);
      const { account } = identity;
      const from = clock.now() - shownMs;
      const name = `tag.${memberTag}`;
      const [used, budgeted, terms] = await Promise.all([
        gateway.usage({ from, by: [name], where: { account }, refusals: true }),
        budgetedMembers(),
        readerTerms(gateway, identity),
      ]);
      const uses = new Map(used.map((record) => [record.by[name], record]));
      const values = [...new Set([...uses.keys(), ...budgeted])]
        .filter((value) => typeof value === "string")
        .toSorted((one, other) => (uses.get(other)?.chargedMicro ?? 0) - (uses.get(one)?.chargedMicro ?? 0));
      const data = await Promise.all(values.slice(0, mostMembers).map((value) => member(value, uses.get(value))));
      return { json: { tag: memberTag, from: toSeconds(from), data, next: null } };

      async function member(value: string, use: UsageRecord | undefined): Promise<AccountMember> {
        const budget = await gateway.budgets.balance(account, { tag: memberTag, value }, terms);
        const meters = budgetMeters(budget);
        return {
          value,
          requests: use?.requests ?? 0,
          credits: toCredits(use?.chargedMicro ?? 0),
          status: budget.status,
          meters,
        };
      }

      async function budgetedMembers(): Promise<readonly string[]> {
        const page = await unlessUnsupported(() => gateway.budgets.list(account, { limit: 1000 }));
        const budgets = page?.budgets ?? [];
        return budgets.flatMap(({ tag, value }) => (tag === memberTag && typeof value === "string" ? [value] : []));
      }
    },
  });
}
