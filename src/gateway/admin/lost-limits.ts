import { isSameData } from "../../check/is-same-data.js";
import { withoutNulls } from "../../check/without-nulls.js";
import type { ApiKey } from "../../keys/key-store.js";

type Limits = Pick<ApiKey, "enabled" | "credits" | "rates" | "tags" | "lineage">;

/**
 * What limits a key or says whose calls it makes, but is not kept so: a store that ignores a member would lift a limit, or
 * file calls under nobody. Only a key with caps or rates needs its lineage.
 */
export function lostLimits(given: Limits, kept: Limits | null | undefined): readonly string[] {
  const isCounted = hasMembers(given.credits) || hasMembers(given.rates);
  return [
    ...(given.enabled === false && kept?.enabled !== false ? ["`enabled`"] : []),
    ...(hasMembers(given.credits) && !isSameLimit(given.credits, kept?.credits) ? ["`credits`"] : []),
    ...(hasMembers(given.rates) && !isSameLimit(given.rates, kept?.rates) ? ["`rates`"] : []),
    ...(hasMembers(given.tags) && !isSameLimit(given.tags, kept?.tags) ? ["`tags`"] : []),
    ...(isCounted && given.lineage && given.lineage !== kept?.lineage ? ["`lineage`"] : []),
  ];
}

function hasMembers(limit: object | null | undefined): boolean {
  return !isSameLimit(limit, {});
}

/** A member that is `null` is none. */
function isSameLimit(one: object | null | undefined, other: object | null | undefined): boolean {
  return isSameData(withoutNulls(one ?? {}), withoutNulls(other ?? {}));
}
