import type { BudgetBalance } from "../../gateway/budgets/budget-balance.js";
import type { Gateway } from "../../gateway/gateway.js";
import { accountRecord } from "../server/account-record.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import { toCredits, toSeconds } from "../server/units.js";
import type { Reader } from "./account-identity.js";
import { accountMeters, bindingOf, budgetMeters } from "./account-meters.js";
import type { AccountMe, AccountMeter } from "./account-page-api.js";
import type { AccountServices } from "./account-services.js";
import { readerTerms } from "./reader-terms.js";

/** Who reads the page, and what is left. */
export function meRoute(services: AccountServices, can: AccountMe["can"]): PageRoute<Reader> {
  const { gateway, keys, clock } = services;
  return pageRoute<Reader>({
    method: "GET",
    path: "me",
    async answer({ identity }) {
      const { account, role, name, tags } = identity;
      const [record, terms] = await Promise.all([accountRecord(gateway, account), readerTerms(gateway, identity)]);
      const [balance, budgets, counted, ready] = await Promise.all([
        gateway.accounts.balance(account, terms),
        ownBudgets(services, identity),
        keys.count(identity),
        isReady(gateway),
      ]);
      const all = [...accountMeters(balance), ...budgets.flatMap(budgetMeters)];
      const stopped = budgets.find(({ status }) => status === "suspended");
      const me: AccountMe = {
        ...{ account, name: name ?? null, role, tags, plan: balance.plan, can },
        now: toSeconds(clock.now()),
        ready,
        status: record?.status === "suspended" || stopped !== undefined ? "suspended" : "active",
        message: record?.message ?? stopped?.message ?? null,
        meters: role === "owner" ? all : all.filter((meter) => isMembers(meter, all)),
        ...bindingOf(role === "owner" ? all : all.filter((meter) => isMembers(meter, all))),
        debt: role === "owner" ? toCredits(balance.prepaid?.overdrawnMicro ?? 0) : 0,
        keys: { ...counted, max: keys.most },
      };
      return { json: me };
    },
  });
}

async function isReady({ handler, basePath }: Gateway): Promise<boolean> {
  return (await handler(new Request(`http://gateway${basePath}/readyz`))).ok;
}

/** What colleagues have used of the account is not a member's to know, but for what stops the member's own calls. */
function isMembers({ kind, remaining, id }: AccountMeter, all: readonly AccountMeter[]): boolean {
  return kind === "budget" || (remaining === 0 && bindingOf(all).blocked && (kind === "window" || id === "prepaid"));
}

/** The budgets of the reader's own tags. Where the gateway keeps none, those of its plan count all the same. */
async function ownBudgets({ gateway }: AccountServices, reader: Reader): Promise<readonly BudgetBalance[]> {
  const terms = await readerTerms(gateway, reader);
  return Promise.all(
    Object.entries(reader.tags).map(([tag, value]) => gateway.budgets.balance(reader.account, { tag, value }, terms)),
  );
}
