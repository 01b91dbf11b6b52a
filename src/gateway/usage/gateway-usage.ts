import { UnsupportedError } from "../../check/check-input.js";
import type { Clock } from "../../ledger/calendar.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import { nextTurn } from "../../ledger/promised.js";
import type { PeriodTotal, TotalsRequest, UsageTotal } from "../../ledger/usage/usage-request.js";
import {
  addAccountTotals,
  compareGroups,
  groupKey,
  mostTotals,
  namedAccounts,
  TotalSums,
  tooManyTotals,
} from "../../ledger/usage/usage-sums.js";
import { noUsage } from "../../ledger/usage/usage-total.js";
import type { Micro } from "../../prices/micro.js";
import type { RequestCounts } from "../../request-log/request-log.js";
import type { GivenAccountStore } from "../admin/account-records.js";
import { fromLedger, fromStore } from "../admin/from-store.js";
import { ledgerLacks } from "../admin/method-checks.js";
import { askLog, type WrittenLog } from "../request-log/managed-requests.js";
import { periodNamer } from "./split-time.js";
import { type CheckedQuery, checkQuery, type UsageQuery } from "./usage-query.js";

/** An hour or a day of usage. The first and the last one are cut by `from` and `to`. */
export interface UsagePeriod {
  /** As clocks of the time zone show it: `2026-03-11`, or `2026-03-11T09:00`. */
  readonly name: string;
  /** Epoch milliseconds, inclusive. */
  readonly from: number;
  /** Epoch milliseconds, exclusive. */
  readonly to: number;
}

/** What was used of what is alike in the things that {@link Gateway.usage} was asked for. */
export interface UsageRecord extends UsageTotal, FaultCounts {
  /** What is alike, as it was named. `null`: all that has no such thing. */
  readonly by: Readonly<Record<string, string | null>>;
  /** With `every` only. */
  readonly period?: UsagePeriod;
  /** `costedMicro` − `costMicro`: what is left of the charges of calls with a known cost. Absent: there are none. */
  readonly marginMicro?: Micro;
}

interface UsageStores {
  readonly ledger: CreditLedger;
  readonly accounts?: GivenAccountStore | undefined;
  /** Where requests are logged: it has counted those that did not succeed. */
  readonly log: WrittenLog | undefined;
}

const by = "gateway.usage";
const accountsPerPage = 1_000;

export function gatewayUsage(
  stores: UsageStores,
  clock: Clock,
): (query?: UsageQuery) => Promise<readonly UsageRecord[]> {
  return async (query = {}) => {
    const checked = await checkQuery(query, clock.now());
    const { request } = checked;
    if (request.periods[0] === request.periods.at(-1)) return [];
    const { ledger, log } = stores;
    const totals = await fromLedger(by, () => ledger.totals?.(request) ?? totalsOfRecords(stores, request));
    const sums = new TotalSums(request);
    await eachInTurns(totals, (total) => sums.add(total));
    const used = sums.list();
    const counts = log && (await askLog(log, by, (store) => store.counts(request)));
    const records: UsageRecord[] = [];
    const toRecord = recordMaker(checked);
    await eachInTurns(counts ? withCounts(used, counts, checked.refusals) : used, (total) =>
      records.push(toRecord(total)),
    );
    return records;
  };
}

/** So many at once are some milliseconds of work. */
const totalsPerTurn = 1_000;

async function eachInTurns<Total>(totals: readonly Total[], use: (total: Total) => unknown): Promise<void> {
  for (const [place, total] of totals.entries()) {
    if (place % totalsPerTurn === totalsPerTurn - 1) await nextTurn();
    use(total);
  }
}

function recordMaker({ request, names, every }: CheckedQuery): (total: PeriodTotal & FaultCounts) => UsageRecord {
  const periods = new Map<number, UsagePeriod>();
  const nameOf = every && periodNamer(every);
  const periodAt = (place: number, name: NonNullable<typeof nameOf>): UsagePeriod => {
    const [from, to] = [request.periods[place] as number, request.periods[place + 1] as number];
    const known = periods.get(place) ?? { name: name(from), from, to };
    periods.set(place, known);
    return known;
  };
  return ({ period, by, ...used }) => ({
    ...(nameOf !== undefined && { period: periodAt(period, nameOf) }),
    by: Object.fromEntries(names.map((name, place) => [name, by[place] ?? null])),
    ...used,
    ...(used.costedMicro !== undefined && { marginMicro: used.costedMicro - (used.costMicro ?? 0) }),
  });
}

/** Of a ledger that cannot tell which accounts it has: those that are named, or have a record. */
async function totalsOfRecords(stores: UsageStores, request: TotalsRequest): Promise<readonly PeriodTotal[]> {
  const { history, usage } = stores.ledger;
  if (history === undefined) {
    throw ledgerLacks(by, "keeps no journal");
  }
  const sums = new TotalSums(request);
  const books = {
    history: history.bind(stores.ledger),
    usage: usage?.bind(stores.ledger),
    // Without a turn of the event loop, a long journal would block the process.
    pause: nextTurn,
  };
  for await (const account of accountsOf(stores, request)) await addAccountTotals(sums, request, account, books);
  return sums.list();
}

async function* accountsOf({ accounts }: UsageStores, request: TotalsRequest): AsyncGenerator<string, void, undefined> {
  const named = namedAccounts(request);
  if (named !== undefined) return yield* named;
  const list = accounts?.list;
  if (list === undefined) {
    throw new UnsupportedError(
      "gateway.usage: this ledger cannot tell which accounts it has. Name them in `where: { account: [...] }`, or give " +
        "createGateway `accounts`, a store that lists their records.",
    );
  }
  let cursor: string | undefined;
  do {
    const asked = { limit: accountsPerPage, ...(cursor !== undefined && { cursor }) };
    const page = await fromStore(by, "account", () => list.call(accounts, asked));
    for (const { id } of page.accounts) yield id;
    cursor = page.cursor;
  } while (cursor !== undefined);
}

/** What a gateway with a request log counts beside usage. */
interface FaultCounts {
  /** Requests that the gateway answered with an error status, and called no upstream. Only with `requestLog`. */
  readonly refusals?: number;
  /** Requests for which an upstream was called, and whose client got an error, or no whole response. Only with `requestLog`. */
  readonly failures?: number;
}

/**
 * Puts refusals and failures beside what was used of the same.
 * @param isWhole - whether there is a total of nothing where nothing was used, and some were refused or failed.
 * @throws LedgerInputError when there are too many totals.
 */
function withCounts(
  totals: readonly PeriodTotal[],
  counts: readonly RequestCounts[],
  isWhole: boolean,
): readonly (PeriodTotal & FaultCounts)[] {
  const left = new Map(counts.map((count) => [groupKey(count), count]));
  const all: (PeriodTotal & FaultCounts)[] = totals.map((total) => {
    const key = groupKey(total);
    const { refusals = 0, failures = 0 } = left.get(key) ?? {};
    left.delete(key);
    return { ...total, refusals, failures };
  });
  if (!isWhole || left.size === 0) return all;
  if (all.length + left.size > mostTotals) throw tooManyTotals();
  for (const count of left.values()) all.push({ ...noUsage, ...count });
  return all.sort(compareGroups);
}
