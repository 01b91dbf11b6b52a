import * as z from "zod";
import { checkInput } from "../check/check-input.js";
import { freeText, longestTag, mostTags, recordOf } from "../check/text-schemas.js";
import { wholeInstant } from "../records/keys/check-key.js";
import type { LoggedRequest, RequestQuery } from "./request-log.js";

/** A query that was checked. */
export interface CheckedRequestQuery {
  readonly range: LineRange;
  readonly limit: number;
  /** Whether a line of the range is asked for; `undefined`: each is. */
  readonly matches: ((line: LoggedRequest) => boolean) | undefined;
}

type StatusSpan = readonly [least: number, most: number];

const statusMessage = 'must be a status such as 429, a class such as "4xx", or a list of them';
const oneStatus = z.union([
  z.number(statusMessage).int(statusMessage).min(100, statusMessage).max(599, statusMessage),
  z.string().regex(/^[1-5]xx$/, statusMessage),
]);
const text = freeText(256);
const cursorPattern = /^(-?\d{1,16})\.([\w-]{1,64})$/;
const queryInput = z.strictObject({
  account: text.optional(),
  key: text.optional(),
  tag: recordOf({
    values: freeText(longestTag),
    most: mostTags,
    error: 'must be an object of texts, such as { member: "42" }',
  }).optional(),
  model: text.optional(),
  target: freeText(1_000).optional(),
  status: z.union([oneStatus, z.array(oneStatus).min(1).max(100)], { error: statusMessage }).optional(),
  code: text.optional(),
  from: wholeInstant,
  to: wholeInstant,
  cursor: z.string().regex(cursorPattern, "must be the `cursor` of a page, as it is").optional(),
  limit: z.number().int().min(1).max(1_000).default(100),
});

/** @throws TypeError that begins with `by` when the query is not valid. */
export function checkRequestQuery(by: string, query: RequestQuery): CheckedRequestQuery {
  const { from, to, cursor, limit, status, ...asked } = checkInput(by, queryInput, query);
  const statuses = status === undefined ? undefined : [status].flat().map(toSpan);
  const until: LinePlace = { at: to ?? Number.MAX_SAFE_INTEGER, lineId: "" };
  const after = cursor === undefined ? until : fromCursor(cursor);
  const tags = Object.entries(asked.tag ?? {});
  const path = pathOf({ ...asked, tags, statuses });
  return {
    range: { path, from: from ?? Number.MIN_SAFE_INTEGER, below: isBelow(after, until) ? after : until },
    limit,
    matches: matcher({ ...asked, tags, statuses }, path),
  };
}

/** The cursor of a page that ends with this line. */
export function toCursor({ at, lineId }: LinePlace): string {
  return `${at}.${lineId}`;
}

function fromCursor(cursor: string): LinePlace {
  const [, at, lineId] = cursorPattern.exec(cursor) as unknown as [string, string, string];
  return { at: Number(at), lineId };
}

interface Asked {
  readonly account?: string | undefined;
  readonly key?: string | undefined;
  readonly tags: readonly (readonly [name: string, value: string])[];
  readonly model?: string | undefined;
  readonly target?: string | undefined;
  readonly statuses: readonly StatusSpan[] | undefined;
  readonly code?: string | undefined;
}

/** The path with the fewest lines. */
function pathOf({ account, key, tags: [tag], statuses, code }: Asked): LinePath {
  if (account !== undefined && tag !== undefined) return { account, tag };
  if (key !== undefined) return { keyId: key };
  if (account !== undefined) return { account };
  const asksForErrors = code !== undefined || statuses?.every(([least]) => least >= 400) === true;
  return asksForErrors ? { isError: true } : {};
}

function matcher(asked: Asked, path: LinePath): CheckedRequestQuery["matches"] {
  const { account, key, tags, model, target, statuses, code } = asked;
  const checks: ((line: LoggedRequest) => boolean)[] = [];
  if (account !== undefined && !("account" in path)) checks.push((line) => line.account === account);
  if (key !== undefined && !("keyId" in path)) checks.push((line) => line.keyId === key);
  for (const tag of "tag" in path ? tags.slice(1) : tags) checks.push((line) => hasTag(line, tag));
  if (model !== undefined) checks.push((line) => line.model === model || line.requestedModel === model);
  if (target !== undefined) checks.push((line) => line.target === target);
  if (code !== undefined) checks.push((line) => line.errorCode === code);
  if (statuses !== undefined) {
    checks.push(({ status }) => statuses.some(([least, most]) => status >= least && status <= most));
  }
  return checks.length === 0 ? undefined : (line) => checks.every((check) => check(line));
}

function toSpan(status: number | string): StatusSpan {
  if (typeof status === "number") return [status, status];
  const least = Number(status[0]) * 100;
  return [least, least + 99];
}

/** Where a line stands: in the order of the moments, and then of the bytes of the ids. */
export interface LinePlace {
  readonly at: number;
  readonly lineId: string;
}

/** What a store finds without reading all lines. */
export type LinePath =
  | { readonly account: string; readonly tag?: readonly [name: string, value: string] }
  | { readonly keyId: string }
  /** Those that did not succeed: {@link isFailedLine}. */
  | { readonly isError: true }
  /** All lines. */
  | Readonly<Record<string, never>>;

/** Lines on a path. */
export interface LineRange {
  readonly path: LinePath;
  /** The earliest moment. */
  readonly from: number;
  /** The place after the newest line. */
  readonly below: LinePlace;
}

/** Whether a client got an error, or left. */
export function isFailedLine({ status, errorCode }: LoggedRequest): boolean {
  return status >= 400 || errorCode !== undefined;
}

export function linePlace({ startedAt, lineId }: LoggedRequest): LinePlace {
  return { at: startedAt, lineId };
}

export function isBelow(one: LinePlace, other: LinePlace): boolean {
  return one.at === other.at ? one.lineId < other.lineId : one.at < other.at;
}

/** Whether the line is in the range. */
export function isInRange(line: LoggedRequest, { path, from, below }: LineRange): boolean {
  return line.startedAt >= from && isBelow(linePlace(line), below) && isOnPath(line, path);
}

function isOnPath(line: LoggedRequest, path: LinePath): boolean {
  if ("account" in path) return line.account === path.account && (path.tag === undefined || hasTag(line, path.tag));
  if ("keyId" in path) return line.keyId === path.keyId;
  return !("isError" in path) || isFailedLine(line);
}

/** Whether it has this value of the tag. */
function hasTag({ tags }: LoggedRequest, [name, value]: readonly [string, string]): boolean {
  return tags !== undefined && Object.hasOwn(tags, name) && tags[name] === value;
}
