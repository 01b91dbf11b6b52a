import * as z from "zod";
import { idText } from "../../check/text-schemas.js";
import { invalidValue } from "../../errors/gateway-error.js";
import type { Gateway } from "../../gateway/gateway.js";
import type { KeptAccount } from "../../records/accounts/account-store.js";
import { accountRecord, notFound, type PageRoute, pageRoute, unlessUnsupported } from "../server/page-route.js";
import type { OperatorAccount, OperatorBalance, OperatorListedAccount } from "./operator-page-api.js";
import { type Operator, type OperatorServices, pageShape } from "./operator-services.js";
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

/** What to look for, all of it. */
interface AccountQuestion {
  /** A part of the id or of a text of the metadata; or the whole id of an account or of one of its keys. */
  readonly query: string | undefined;
  readonly plan: string | undefined;
  readonly status: "active" | "suspended" | undefined;
}

/** Accounts that were found. Of one without a record, only the id is known. */
interface FoundAccounts {
  readonly found: readonly { readonly id: string; readonly record: KeptAccount | undefined }[];
  readonly next: string | null;
}

/** Where to go on: a page of the store, and how many of those that it has were given. */
interface Place {
  readonly cursor: string | undefined;
  readonly given: number;
}

/** So many records are looked through for one answer: what is beyond comes with the next. */
const atOnce = 1_000;
const mostPages = 20;

/**
 * Finds accounts by their records. Stores list them page by page and have no index of their texts, so that a rare one may take
 * several answers, of which the first are empty.
 * @throws TypeError 501 where the gateway keeps no accounts, and the question is no whole id.
 */
async function searchAccounts(
  gateway: Gateway,
  question: AccountQuestion,
  { cursor, limit }: { readonly cursor?: string | undefined; readonly limit: number },
): Promise<FoundAccounts> {
  const exact = cursor === undefined ? await exactMatches(gateway, question) : [];
  const found = [...exact];
  let place = placeOf(cursor);
  for (let pages = 0; pages < mostPages && found.length < limit; pages++) {
    const page = await listed(gateway, place.cursor, found.length > 0);
    if (page === undefined) return { found, next: null };
    const matches = page.accounts.filter((record) => isMeant(record, question));
    const fresh = matches.slice(place.given, place.given + limit - found.length);
    found.push(...fresh.map((record) => ({ id: record.id, record })));
    const given = place.given + fresh.length;
    if (given < matches.length) return { found, next: textOf({ cursor: place.cursor, given }) };
    if (page.cursor === undefined) return { found, next: null };
    place = { cursor: page.cursor, given: 0 };
  }
  return { found, next: textOf(place) };
}

async function listed(gateway: Gateway, cursor: string | undefined, isEnough: boolean) {
  const list = () => gateway.accounts.list({ cursor, limit: atOnce, credits: false });
  return isEnough ? unlessUnsupported(list) : list();
}

/** By the whole id of the account, or of a key. */
async function exactMatches(gateway: Gateway, question: AccountQuestion): Promise<FoundAccounts["found"]> {
  const { query } = question;
  if (query === undefined || query.length > 256) return [];
  const key = await unlessUnsupported(() => gateway.keys.get(query));
  const ids = [...new Set([query, ...(key === undefined ? [] : [key.account])])].filter(({ length }) => length <= 128);
  const all = await Promise.all(
    ids.map(async (id) => {
      const record = await accountRecord(gateway, id);
      if (record !== undefined) return isOf(record, question) ? [{ id, record }] : [];
      const hasKeys = ((await unlessUnsupported(() => gateway.keys.list(id, { limit: 1 }))) ?? []).length > 0;
      return hasKeys && question.plan === undefined && question.status !== "suspended" ? [{ id, record }] : [];
    }),
  );
  return all.flat();
}

function isMeant(record: KeptAccount, question: AccountQuestion): boolean {
  if (!isOf(record, question)) return false;
  const part = question.query?.toLowerCase();
  if (part === undefined) return true;
  // It was found before all others.
  if (record.id === question.query) return false;
  const texts = [record.id, ...Object.values(record.metadata ?? {})];
  return texts.some((text) => typeof text === "string" && text.toLowerCase().includes(part));
}

function isOf({ plan, status = "active" }: KeptAccount, question: AccountQuestion): boolean {
  return (question.plan ?? plan) === plan && (question.status ?? status) === status;
}

function textOf({ cursor, given }: Place): string {
  return `${given}.${cursor ?? ""}`;
}

function placeOf(text: string | undefined): Place {
  if (text === undefined) return { cursor: undefined, given: 0 };
  const [, given, cursor] = /^(\d{1,4})\.(.*)$/s.exec(text) ?? [];
  if (given === undefined || cursor === undefined)
    throw invalidValue("cursor", "`cursor` must be the `next` of a page.");
  return { cursor: cursor === "" ? undefined : cursor, given: Number(given) };
}
