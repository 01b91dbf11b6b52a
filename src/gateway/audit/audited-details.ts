import type { AuditDetails } from "../../books/audit/audit-trail.js";

/** So many characters of JSON are kept of what was given, of what was before, and of what is after. */
const mostCharacters = 16_384;
/** So many names of what was cut are kept. */
const mostCut = 64;
/** Members that no entry has, wherever they might come from. */
const secret = new Set(["secret", "hash"]);

/**
 * The members as an entry has them: without secrets, with the names of `metadata` alone, and without what is too large.
 * @param cut - gets the names of what is too large, behind `part`.
 */
export function auditedDetails(part: string, members: object | undefined, cut: string[]): AuditDetails | undefined {
  if (members === undefined) return undefined;
  let left = mostCharacters;
  const kept = Object.entries(members).flatMap(([name, value]) => {
    const json = secret.has(name) ? undefined : JSON.stringify(name === "metadata" ? namesOf(value) : value);
    if (json === undefined) return [];
    if (json.length + name.length > left) {
      if (cut.length < mostCut) cut.push(`${part}.${name.slice(0, 64)}`);
      return [];
    }
    left -= json.length + name.length;
    return [[name, JSON.parse(json)] as const];
  });
  return Object.fromEntries(kept);
}

function namesOf(metadata: unknown): unknown {
  return typeof metadata === "object" && metadata !== null ? Object.keys(metadata) : metadata;
}
