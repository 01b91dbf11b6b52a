import { isPlain } from "./is-same-data.js";

const deepest = 32;

/**
 * Why JSON cannot keep a value as it is: where, and what stands there. Members that are `undefined` count as absent.
 * @returns `undefined` when it can.
 */
export function dataProblem(value: unknown, path: readonly (string | number)[] = []): string | undefined {
  const problem = ownProblem(value, path.length);
  if (problem !== undefined) return path.length === 0 ? problem : `${path.join(".").slice(0, 200)}: ${problem}`;
  if (typeof value !== "object" || value === null) return undefined;
  for (const [name, member] of Array.isArray(value) ? value.entries() : Object.entries(value)) {
    const isAbsent = member === undefined && !Array.isArray(value);
    const found = isAbsent ? undefined : dataProblem(member, [...path, name]);
    if (found !== undefined) return found;
  }
  return undefined;
}

function ownProblem(value: unknown, depth: number): string | undefined {
  if (typeof value === "function") return "must be JSON data, which has no functions";
  if (typeof value === "number") return Number.isFinite(value) ? undefined : "must be a finite number";
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined;
  if (depth > deepest) return `must be nested at most ${deepest} levels deep`;
  return Array.isArray(value) || isPlain(value) ? undefined : "must be JSON data";
}
