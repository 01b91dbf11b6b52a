import * as z from "zod";
import { checkInput } from "../check/check-input.js";
import { freeText, idText, longestTag } from "../check/text-schemas.js";
import { type AuditEntry, type AuditPage, type AuditTrail, auditActions } from "./audit-trail.js";

/** The longest id of who has done something. */
export const longestAuthor = 128;

/** Who makes a change, and why. The audit trail of the gateway keeps it, where there is one. */
export interface AuditAuthor {
  /** Who: an id of the host's, at most 128 characters. Default: not said. */
  by?: string | undefined;
  /** Why, at most 1000 characters. Default: not said. */
  note?: string | undefined;
}

/** The members of an {@link AuditAuthor}, for a schema. */
export const authorShape = { by: idText(longestAuthor).optional(), note: freeText(1000).optional() };

const digits = 16;

/** Ids of entries, which are in one order by their bytes and by their code units. */
const auditId = /^[a-z0-9_-]{1,64}$/;

/** A text by which entries are in order: by their moments, and those of one moment by their ids. */
function auditPlace({ at, id }: Pick<AuditEntry, "at" | "id">): string {
  return `${beforeAll(at)}${id}`;
}

/** A text that stands before all entries of a moment, and after those that are earlier. */
function beforeAll(at: number): string {
  return `${Math.max(at, 0).toString().padStart(digits, "0")}-`;
}

/** Whether it can be the place of an entry. */
function isAuditPlace(text: string): boolean {
  return /^\d{16}-$/.test(text.slice(0, digits + 1)) && auditId.test(text.slice(digits + 1));
}

/** What entries are found by. Of the first ones there are the fewest. */
export const auditFilters = ["account", "key", "by", "action"] as const;

export type AuditFilters = { readonly [Name in (typeof auditFilters)[number]]?: string | undefined };

/** An entry as a store keeps it. Its texts hold neither NUL nor halves of surrogate pairs. */
export interface AuditRow extends AuditFilters {
  /** See {@link auditPlace}. No two entries have the same. */
  readonly place: string;
  readonly at: number;
  /** Another account that it is found by. */
  readonly movedTo: string | undefined;
  /** The entry as JSON. */
  readonly json: string;
}

/** A part of what a trail has, from the newest down. */
export interface AuditRange {
  readonly filters: AuditFilters;
  /** The lowest place, inclusive. */
  readonly from: string;
  /** The highest place, exclusive. */
  readonly below: string;
  readonly limit: number;
}

/** A store that leaves the checks to {@link checkedAuditTrail}. */
interface UncheckedAuditTrail {
  /** Nothing happens where the place is taken. */
  append(row: AuditRow): Promise<void>;
  /** @returns entries in the order of their places, the highest first. */
  list(range: AuditRange): Promise<readonly AuditEntry[]>;
}

const moment = z.number().int().min(-8.64e15).max(8.64e15);
const details = z.record(z.string(), z.unknown()).optional();
const accountId = idText(128).optional();
/** The name of a tag, an equals sign, and its value. */
const longestBudget = 64 + 1 + longestTag;
const entryId = z.string().regex(auditId, "must be 1 to 64 of a-z, 0-9, _ and -");

const entrySchema = z.strictObject({
  ...authorShape,
  id: entryId,
  at: moment.min(0),
  action: z.enum(auditActions),
  outcome: z.enum(["done", "unknown"]),
  account: accountId,
  movedTo: accountId,
  key: idText().optional(),
  plan: idText().optional(),
  model: idText().optional(),
  budget: idText(longestBudget).optional(),
  given: details,
  before: details,
  after: details,
  cut: z.array(z.string()).optional(),
});

/** What {@link isFiltered} looks at. */
type AuditPlaces = { readonly [Name in (typeof auditFilters)[number] | "movedTo"]?: string | null | undefined };

/** Whether it is what all of the filters ask for. */
export function isFiltered(found: AuditPlaces, filters: AuditFilters): boolean {
  return auditFilters.every((name) => {
    const wanted = filters[name];
    return wanted === undefined || found[name] === wanted || (name === "account" && found.movedTo === wanted);
  });
}

/** The members of an {@link AuditQuery}, but for its range of time. */
export const auditQueryShape = {
  account: accountId,
  key: idText().optional(),
  action: z.enum(auditActions).optional(),
  by: idText(longestAuthor).optional(),
  cursor: z.string().refine(isAuditPlace, { error: "must be that of the page before" }).optional(),
  limit: z.number().int().min(1).max(1000).default(100),
};
const querySchema = z.strictObject({ ...auditQueryShape, from: moment.optional(), to: moment.optional() });

/** After the places of all entries. */
const end = ":";

/**
 * The store behind a check: only valid entries and queries reach it, others throw a TypeError that begins with `by`. Pages
 * are cut here.
 */
export function checkedAuditTrail(by: string, store: UncheckedAuditTrail): AuditTrail {
  return {
    async append(given) {
      const entry: AuditEntry = checkInput(`${by}.append`, entrySchema, given);
      const { at, account, key, action } = entry;
      const movedTo = entry.movedTo === account ? undefined : entry.movedTo;
      // A copy of its own, whatever happens to the caller's objects.
      const json = JSON.stringify(entry);
      await store.append({ place: auditPlace(entry), at, account, movedTo, key, action, by: entry.by, json });
    },
    async list(given = {}) {
      const { from, to, cursor, limit, ...filters } = checkInput(`${by}.list`, querySchema, given);
      const bounds = [cursor ?? end, to === undefined ? end : beforeAll(to)].toSorted();
      const range = { filters, from: from === undefined ? "" : beforeAll(from), below: bounds[0] ?? end };
      return toPage(await store.list({ ...range, limit: limit + 1 }), limit);
    },
  };
}

/** @param found - one more than `limit`, where there are as many. */
function toPage(found: readonly AuditEntry[], limit: number): AuditPage {
  const entries = found.slice(0, limit);
  const last = entries.at(-1);
  return found.length > limit && last !== undefined ? { entries, cursor: auditPlace(last) } : { entries };
}
