import * as z from "zod";
import type { KeptAccount } from "../../../accounts/account-store.js";
import { idText } from "../../../check/id-text.js";
import type { Gateway } from "../../../gateway/gateway.js";
import { accountRecord } from "../../server/account-record.js";
import { unlessUnsupported } from "../../server/is-unsupported.js";
import { notFound } from "../../server/page-error.js";
import { type PageRoute, pageRoute } from "../../server/page-route.js";
import { pageShape } from "../operator-input.js";
import type { OperatorAccount, OperatorBalance, OperatorListedAccount } from "../operator-page-api.js";
import type { Operator, OperatorServices } from "../operator-services.js";
import { searchAccounts } from "./account-search.js";
import { toOperatorBalance, toOperatorEntry, toOperatorKey, toOperatorRecord } from "./to-operator-account.js";

/** The query of one account. */
export const accountQuery = z.strictObject({ id: idText(128) });
const text = z.string().min(1).max(256).optional();
const listQuery = z.strictObject({
  ...pageShape(100),
  query: text,
  plan: text,
  status: z.enum(["active", "suspended"]).optional(),
});
const kinds = [
  "charge",
  "checkpoint",
  "release",
  "grant",
  "topup",
  "deduction",
  "expiry",
  "reset",
  "unresolved",
] as const;
const historyQuery = accountQuery.extend({ ...pageShape(200), kind: z.enum(kinds).optional() });

const shownKeys = 100;
const shownBudgets = 100;
const shownEntries = 20;
/** So many accounts are asked for their credits at the same time. */
const readAtOnce = 8;

/** Accounts by their records, with what they have left. */
export function accountsRoute({ gateway }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, typeof listQuery>({
    method: "GET",
    path: "accounts",
    query: listQuery,
    async answer({ query: { query, plan, status, ...page } }) {
      const { found, next } = await searchAccounts(gateway, { query: query?.trim() || undefined, plan, status }, page);
      const data: OperatorListedAccount[] = [];
      for (let first = 0; first < found.length; first += readAtOnce) {
        const some = found.slice(first, first + readAtOnce);
        data.push(...(await Promise.all(some.map(({ id, record }) => listedAccount(gateway, id, record)))));
      }
      return { json: { data, next } };
    },
  });
}

export function accountRoute(services: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, typeof accountQuery>({
    method: "GET",
    path: "account",
    query: accountQuery,
    answer: async ({ query: { id } }) => ({ json: await wholeAccount(services, id) }),
  });
}

/** The journal of an account, page by page. */
export function accountHistoryRoute({ gateway }: OperatorServices): PageRoute<Operator> {
  return pageRoute<Operator, typeof historyQuery>({
    method: "GET",
    path: "account/history",
    query: historyQuery,
    async answer({ query: { id, kind, ...page } }) {
      const { entries, cursor } = await gateway.accounts.history(id, {
        ...page,
        ...(kind !== undefined && { kinds: [kind] }),
      });
      return { json: { data: entries.map(toOperatorEntry), next: cursor ?? null } };
    },
  });
}

/** @throws GatewayError 404 when there is neither a record nor a key of it. */
export async function wholeAccount({ gateway, clock }: OperatorServices, id: string): Promise<OperatorAccount> {
  const [record, keys] = await Promise.all([
    accountRecord(gateway, id),
    unlessUnsupported(() => gateway.keys.list(id)),
  ]);
  if (record === undefined && (keys ?? []).length === 0) throw notFound();
  const [account, budgets, history] = await Promise.all([
    listedAccount(gateway, id, record),
    unlessAway(() => gateway.budgets.list(id, { limit: shownBudgets })),
    unlessAway(() => gateway.accounts.history(id, { limit: shownEntries })),
  ]);
  return {
    ...account,
    keys: (keys ?? [])
      .slice(-shownKeys)
      .reverse()
      .map((key) => toOperatorKey(key, clock.now())),
    budgets: budgets?.budgets.map(({ tag, value = null, status = "active" }) => ({ tag, value, status })) ?? null,
    entries: history?.entries.map(toOperatorEntry) ?? null,
  };
}

async function listedAccount(
  gateway: Gateway,
  id: string,
  record: KeptAccount | undefined,
): Promise<OperatorListedAccount> {
  return {
    id,
    record: record === undefined ? null : toOperatorRecord(record),
    balance: await balanceOf(gateway, id),
  };
}

/** One account whose plan is gone, or whose shard is away, does not keep the others from view. */
async function balanceOf(gateway: Gateway, id: string): Promise<OperatorBalance | null> {
  const balance = await unlessAway(() => gateway.accounts.balance(id));
  return balance === undefined ? null : toOperatorBalance(balance);
}

/** What can be read of an account is shown, whatever of the rest cannot. */
async function unlessAway<Found>(find: () => Promise<Found>): Promise<Found | undefined> {
  try {
    return await find();
  } catch (error) {
    if (error instanceof Error && "status" in error) return undefined;
    throw error;
  }
}
