import { isRecord } from "../wire/is-record.js";
import { readTokenCount } from "./token-counts.js";

/** Reports are a few levels deep. */
const deepest = 8;

/** Of all vendors, the names of members that count: tokens, calls of tools. Cohere's `tokens` is an object of such. */
const countName = /.(?:tokens|tokencount|_requests|_queries)$/i;

/** The names of objects of counts. */
const holderName = /_details$|^cache_creation$|^server_tool_use$/;

/**
 * A usage report without the counts that cannot be any, such as negative ones, those that are larger than anybody's, and
 * texts, objects and lists in place of a number. No client gets them, whichever API it speaks: it would add them up.
 * @returns the same value where there is none.
 */
export function soundUsage(usage: unknown): unknown {
  return isSound(usage, 0) ? usage : sound(usage, 0);
}

/** Most reports are sound: to see it, nothing is copied. */
function isSound(value: unknown, depth: number): boolean {
  if (typeof value !== "object" || value === null) return true;
  if (depth === deepest) return false;
  if (Array.isArray(value)) return value.every((each) => isSound(each, depth + 1));
  for (const name in value) {
    const member: unknown = (value as Record<string, unknown>)[name];
    if (isCountWrong(name, member) || !isSound(member, depth + 1)) return false;
  }
  return true;
}

function sound(value: unknown, depth: number): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (depth === deepest) return undefined;
  if (Array.isArray(value)) {
    const found = value.map((each) => sound(each, depth + 1));
    return found.some((each, index) => each !== value[index]) ? found.filter((each) => each !== undefined) : value;
  }
  if (!isRecord(value)) return value;
  let isChanged = false;
  const kept: [string, unknown][] = [];
  for (const [name, member] of Object.entries(value)) {
    const found = isCountWrong(name, member) ? undefined : sound(member, depth + 1);
    isChanged ||= found !== member;
    if (found !== undefined) kept.push([name, found]);
  }
  return isChanged ? Object.fromEntries(kept) : value;
}

function isCountWrong(name: string, value: unknown): boolean {
  if (value === null || value === undefined) return false;
  if (countName.test(name)) return readTokenCount(value) === undefined || !Number.isInteger(value);
  return holderName.test(name) && !isRecord(value);
}
