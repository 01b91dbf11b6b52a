import { compareGroups, groupKey } from "../../ledger/usage/compare-groups.js";
import { mostTotals, tooManyTotals } from "../../ledger/usage/most-totals.js";
import { placeIn } from "../../ledger/usage/total-sums.js";
import type { TotalsRequest } from "../../ledger/usage/usage-totals.js";
import { journalTagPrefix } from "../../metering/tags.js";
import type { CountedFaults } from "./counted-faults.js";
import type { RequestCounts } from "./request-log.js";

/** Refusals and failures, as they are added up. */
export class CountSums {
  readonly #request: TotalsRequest;
  readonly #filters: readonly (readonly [name: string, values: readonly (string | null)[]])[];
  /** By the period and what is alike. */
  readonly #sums = new Map<string, { period: number; by: (string | null)[]; refusals: number; failures: number }>();

  constructor(request: TotalsRequest) {
    this.#request = request;
    this.#filters = Object.entries(request.where);
  }

  /** Adds what was counted, if it is asked for. @throws LedgerInputError when there are too many sums. */
  add(counted: CountedFaults): void {
    const period = placeIn(this.#request.periods, counted.minute);
    if (period === undefined) return;
    for (const [name, values] of this.#filters) if (!values.includes(dimensionOf(counted, name))) return;
    this.addSum({ ...counted, period, by: this.#request.by.map((name) => dimensionOf(counted, name)) });
  }

  /** Adds what was added up elsewhere. @throws LedgerInputError when there are too many sums. */
  addSum({ period, by, refusals, failures }: RequestCounts): void {
    const place = groupKey({ period, by });
    const known = this.#sums.get(place);
    if (known !== undefined) {
      known.refusals += refusals;
      known.failures += failures;
      return;
    }
    if (this.#sums.size >= mostTotals) throw tooManyTotals();
    this.#sums.set(place, { period, by: [...by], refusals, failures });
  }

  /** By their periods, and then by what is alike. */
  list(): RequestCounts[] {
    return [...this.#sums.values()].sort(compareGroups);
  }
}

function dimensionOf(counted: CountedFaults, name: string): string | null {
  switch (name) {
    case "account":
    case "plan":
    case "model":
    case "target":
      return counted[name];
    case "key":
      return counted.keyId;
    default:
      return name.startsWith(journalTagPrefix) ? tagOf(counted, name.slice(journalTagPrefix.length)) : null;
  }
}

function tagOf({ tags }: CountedFaults, name: string): string | null {
  return tags !== null && Object.hasOwn(tags, name) ? (tags[name] ?? null) : null;
}
