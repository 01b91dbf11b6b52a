import type { AccountTerms } from "../../gateway/admin/account-terms.js";
import type { BudgetBalance } from "../../gateway/budgets/budget-balance.js";
import type { Gateway } from "../../gateway/gateway.js";
import { accountRecord } from "../server/account-record.js";
import { type PageRoute, pageRoute } from "../server/page-route.js";
import { toCredits, toSeconds } from "../server/units.js";
import type { Reader } from "./account-identity.js";
import { accountMeters, bindingOf, budgetMeters } from "./account-meters.js";
import type { AccountMe, AccountMeter } from "./account-page-api.js";
import type { AccountServices } from "./account-services.js";
import { readerTermsBeside } from "./reader-terms.js";

/** Who reads the page, and what is left. */
export function meRoute(services: AccountServices, can: AccountMe["can"]): PageRoute<Reader> {
  const { gateway, keys, clock } = services;
  return pageRoute<Reader>({
    method: "GET",
    path: "me",
    async answer({ identity }) {
      const { account, role, name, tags } = identity;
      const record = await accountRecord(gateway, account);
      const terms = readerTermsBeside(record, identity);
      const [balance, budgets, counted, ready] = await Promise.all([
        gateway.accounts.balance(account, terms),
        ownBudgets(gateway, identity, terms),
        keys.count(identity),
        isReady(gateway),
      ]);
      const all = [...accountMeters(balance), ...budgets.flatMap(budgetMeters)];
      const meters = role === "owner" ? all : membersOf(all);
      const stopped = budgets.find(({ status }) => status === "suspended");
      const me: AccountMe = {
        ...{ account, name: name ?? null, role, tags, plan: balance.plan, can },
        now: toSeconds(clock.now()),
        ready,
        status: record?.status === "suspended" || stopped !== undefined ? "suspended" : "active",
        message: record?.message ?? stopped?.message ?? null,
        meters,
        ...bindingOf(meters),
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
function membersOf(all: readonly AccountMeter[]): readonly AccountMeter[] {
  const { blocked } = bindingOf(all);
  const isStop = ({ kind, remaining, id }: AccountMeter) =>
    remaining === 0 && blocked && (kind === "window" || id === "prepaid");
  return all.filter((meter) => meter.kind === "budget" || isStop(meter));
}

/** The budgets of the reader's own tags. Where the gateway keeps none, those of its plan count all the same. */
function ownBudgets(
  gateway: Gateway,
  { account, tags }: Reader,
  terms: AccountTerms,
): Promise<readonly BudgetBalance[]> {
  return Promise.all(
    Object.entries(tags).map(([tag, value]) => gateway.budgets.balance(account, { tag, value }, terms)),
  );
}
