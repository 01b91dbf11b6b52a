import type { StoresOfVersion } from "../books.js";
import { withTodaysNames } from "./first-names.js";

const withFirstNames = ["c2fa40a", "63408ca", "f53f813", "096b066"];

/** The stores that the code of a commit has made, by the names of today. */
export function storesOfCommit(commit: string, made: StoresOfVersion): StoresOfVersion {
  const { keys, plans, accounts, responses, budgets, catalog } = made;
  const ledger = withFirstNames.includes(commit) ? withTodaysNames(made.ledger) : made.ledger;
  return {
    ...{ ledger, keys, plans },
    ...(accounts && { accounts }),
    ...(responses && { responses }),
    ...(budgets && { budgets }),
    ...(catalog && { catalog }),
  };
}
