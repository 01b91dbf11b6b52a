import type { LoggedRequest } from "./logged-request.js";

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
export function hasTag({ tags }: LoggedRequest, [name, value]: readonly [string, string]): boolean {
  return tags !== undefined && Object.hasOwn(tags, name) && tags[name] === value;
}
