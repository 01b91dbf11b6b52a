import type { KeptAccount } from "../../../accounts/account-store.js";
import { invalidValue } from "../../../errors/gateway-error.js";
import type { Gateway } from "../../../gateway/gateway.js";
import { accountRecord } from "../../server/account-record.js";
import { unlessUnsupported } from "../../server/is-unsupported.js";

/** What to look for, all of it. */
export interface AccountQuestion {
  /** A part of the id or of a text of the metadata; or the whole id of an account or of one of its keys. */
  readonly query: string | undefined;
  readonly plan: string | undefined;
  readonly status: "active" | "suspended" | undefined;
}

/** Accounts that were found. Of one without a record, only the id is known. */
export interface FoundAccounts {
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
export async function searchAccounts(
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
