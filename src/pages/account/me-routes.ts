import type { AccountTerms } from "../../gateway/admin/account-terms.js";
import type { BudgetBalance } from "../../gateway/admin/balance.js";
import type { Gateway } from "../../gateway/gateway.js";
import type { UsageRecord } from "../../gateway/usage/gateway-usage.js";
import {
  accountRecord,
  type PageRoute,
  pageRoute,
  toCredits,
  toSeconds,
  unlessUnsupported,
} from "../server/page-route.js";
import { accountMeters, bindingOf, budgetMeters } from "./account-meters.js";
import type { AccountMe, AccountMember, AccountMeter } from "./account-page-api.js";
import { type Reader, readerTerms, readerTermsBeside } from "./reader.js";
import type { AccountServices } from "./reader-keys.js";
import { requireOwner } from "./usage-routes.js";

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
