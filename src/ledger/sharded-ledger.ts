import { requireKnownOptions } from "../check/known-options.js";
import {
  type CreditLedger,
  type HistoryRequest,
  LedgerInputError,
  type RenewRequest,
  type RenewStatus,
} from "./credit-ledger.js";
import { rendezvous } from "./id-hash.js";
import { checkAccount, checkDeduct, checkTopUp } from "./ledger-input.js";
import type { DeductRequest, TopUpRequest } from "./limits.js";
import type { StatementRequest, TotalsRequest, UsageRequest } from "./usage/usage-request.js";
import { TotalSums } from "./usage/usage-sums.js";

/** Options of {@link shardedLedger}. */
export interface ShardedLedgerOptions<Name extends string = string> {
  /** The ledgers, by names that stay. */
  shards: Readonly<Record<Name, CreditLedger>>;
  /**
   * The name of the ledger that keeps an account: always the same one for the same account, in all processes, and as
   * long as a call of it is in progress: a call whose ledger is not known at its end is not charged. Default:
   * by a hash of both, which spreads accounts evenly. A ledger that is added or removed then moves those accounts only
   * that it gets or had.
   */
  shardOf?: ((account: string) => Name) | undefined;
}

/**
 * One ledger over several, each of which keeps some of the accounts: for more operations a second than one store can
 * do. No operation concerns two accounts, so each ledger is as exact alone as all are together.
 *
 * An account that another ledger keeps from now on begins there as a new one. Its windows, prepaid credits, journal and
 * open leases stay where they were, unless the operator moves the data.
 *
 * A gateway guards each ledger by itself: one that is away keeps up its own accounts only. It does so where it gets
 * what this function returns, not a copy with methods of the host's own. Those go around the single ledgers.
 *
 * `keepsLimits` and `inProcess` are `true`, and `topUp`, `deduct`, `history`, `usage`, `totals`, `statement` and `subscribe`
 * are there, if that is so of all ledgers. `sweep` is there if one of them has it. Ids are unique within a ledger only; those
 * of top-ups and deductions within all of them, if all have `claimTopUp`. The ledger that looks after such an id follows from the names: the id is not protected for the 31 days
 * after a ledger is added or removed. `close` closes all of them.
 *
 * @throws TypeError when there is no ledger, or an option is unknown.
 *
 * @example
 * ```ts
 * const ledger = shardedLedger({
 *   shards: { one: redisCreditLedger({ client: one }), two: redisCreditLedger({ client: two }) },
 * });
 * ```
 */
export function shardedLedger<Name extends string>(options: ShardedLedgerOptions<Name>): CreditLedger {
  requireKnownOptions("shardedLedger", options, { shards: true, shardOf: true });
  const { shards, shardOf } = options;
  const byName = new Map<string, CreditLedger>(Object.entries(shards));
  if (byName.size === 0) throw new TypeError("shardedLedger: shards must have at least one ledger.");
  const ledgers = [...new Set(byName.values())];
  const names = [...byName.keys()];
  const nameOf = shardOf ?? ((account: string) => rendezvous(names, account));
  const ledgerOf = (account: string): CreditLedger => {
    checkAccount(account);
    const name = nameOf(account);
    const ledger = byName.get(name);
    if (ledger === undefined) {
      throw new LedgerInputError(`shardOf returned ${JSON.stringify(name)}, which names no ledger of shards.`);
    }
    return ledger;
  };
  const sharded: CreditLedger = {
    keepsLimits: ledgers.every(({ keepsLimits }) => keepsLimits === true),
    reserve: async (request) => await ledgerOf(request.account).reserve(request),
    renew: (requests) => renewInShards(requests, ledgerOf),
    settle: async (lease, settlement) => await ledgerOf(lease.account).settle(lease, settlement),
    release: async (lease, rates) => await ledgerOf(lease.account).release(lease, rates),
    balance: async (account, limits, of) => await ledgerOf(account).balance(account, limits, of),
    grant: async (request) => await ledgerOf(request.account).grant(request),
    reset: async (account, windows) => await ledgerOf(account).reset(account, windows),
    forget: async (account) => await ledgerOf(account).forget(account),
    close: () => settleAll(ledgers.map(async (ledger) => await ledger.close())),
    ...optionalMembers(ledgers, ledgerOf, (id) => byName.get(rendezvous(names, id)) as CreditLedger),
  };
  const isInProcess = ledgers.every(({ inProcess }) => inProcess === true);
  // As of the memory ledger, a copy with methods of the host's own does not have it.
  if (isInProcess) Object.defineProperty(sharded, "inProcess", { value: true, enumerable: false });
  const sharding: OwnSharding = { of: sharded, shards: byName, shardOf: nameOf };
  Object.defineProperty(sharded, shardingKey, { value: sharding, enumerable: false });
  return sharded;
}

/** What all ledgers have beside what every ledger has. */
function optionalMembers(
  ledgers: readonly CreditLedger[],
  ledgerOf: (account: string) => CreditLedger,
  ledgerOfId: (id: string) => CreditLedger,
): Partial<CreditLedger> {
  const haveAll = (name: keyof CreditLedger): boolean => ledgers.every((ledger) => ledger[name] !== undefined);
  const claims = ledgers.length > 1 && haveAll("claimTopUp");
  /** The ledger of the account, once the id is known to be no other account's in any ledger. */
  const ledgerToChange = async ({ id, account }: DeductRequest) => {
    const ledger = ledgerOf(account);
    if (claims) await ledgerOfId(id).claimTopUp?.(id, account);
    return ledger;
  };
  return {
    ...(haveAll("topUp") && {
      topUp: async (request: TopUpRequest) => {
        checkTopUp(request);
        return present(await (await ledgerToChange(request)).topUp?.(request));
      },
    }),
    ...(haveAll("deduct") && {
      deduct: async (request: DeductRequest) => {
        checkDeduct(request);
        return present(await (await ledgerToChange(request)).deduct?.(request));
      },
    }),
    ...(haveAll("claimTopUp") && {
      claimTopUp: async (id: string, account: string) => await ledgerOfId(id).claimTopUp?.(id, account),
    }),
    ...(ledgers.some(({ sweep }) => sweep !== undefined) && { sweep: () => sweepShards(ledgers) }),
    ...(haveAll("history") && {
      history: async (request: HistoryRequest) => present(await ledgerOf(request.account).history?.(request)),
    }),
    ...(haveAll("usage") && {
      usage: async (request: UsageRequest) => present(await ledgerOf(request.account).usage?.(request)),
    }),
    ...(haveAll("totals") && {
      totals: async (request: TotalsRequest) => {
        const sums = new TotalSums(request);
        const all = await Promise.all(ledgers.map(async (ledger) => present(await ledger.totals?.(request))));
        for (const total of all.flat()) sums.add(total);
        return sums.list();
      },
    }),
    ...(haveAll("statement") && {
      statement: async (request: StatementRequest) => present(await ledgerOf(request.account).statement?.(request)),
    }),
    ...(haveAll("subscribe") && {
      subscribe: (onChange: (account: string) => void) => subscribeToShards(ledgers, onChange),
    }),
    ...(ledgers.some(({ onReconnected }) => onReconnected !== undefined) && {
      onReconnected: (listener: () => void) => {
        const ends = ledgers.map((ledger) => ledger.onReconnected?.(listener));
        return () => {
          for (const end of ends) end?.();
        };
      },
    }),
  };
}

/** @throws TypeError when a ledger that had a method when it was given has it no more. */
function present<Result>(result: Result | undefined): Result {
  if (result === undefined) throw new TypeError("A ledger of shards has lost a method.");
  return result;
}

interface Part {
  readonly places: number[];
  readonly requests: RenewRequest[];
}

/**
 * Renews each lease where its account is kept.
 * @throws the first failure, be it a ledger's or `ledgerOf`'s, when all other leases are renewed.
 */
async function renewInShards(
  requests: readonly RenewRequest[],
  ledgerOf: (account: string) => CreditLedger,
): Promise<readonly RenewStatus[]> {
  const parts = new Map<CreditLedger, Part>();
  const failures: unknown[] = [];
  for (const [place, request] of requests.entries()) {
    try {
      const ledger = ledgerOf(request.lease.account);
      const part = parts.get(ledger) ?? { places: [], requests: [] };
      parts.set(ledger, part);
      part.places.push(place);
      part.requests.push(request);
    } catch (error) {
      failures.push(error);
    }
  }
  const statuses: RenewStatus[] = new Array(requests.length);
  const renewals = [...parts].map(async ([ledger, part]) => {
    const answers = await ledger.renew(part.requests);
    for (const [index, place] of part.places.entries()) statuses[place] = answers[index] ?? "closed";
  });
  for (const renewal of await Promise.allSettled(renewals)) {
    if (renewal.status === "rejected") failures.push(renewal.reason);
  }
  if (failures.length > 0) throw failures[0];
  return statuses;
}

/** Sweeps all of them at once. @throws what the first one threw that failed, when all have ended. */
async function sweepShards(ledgers: readonly CreditLedger[]): Promise<number> {
  let ended = 0;
  for (const outcome of await Promise.allSettled(ledgers.map(async (ledger) => (await ledger.sweep?.()) ?? 0))) {
    if (outcome.status === "rejected") throw outcome.reason;
    ended += outcome.value;
  }
  return ended;
}

type End = () => Promise<void>;

/** Subscribes to all of them. Where one cannot be subscribed to, ends the other subscriptions and rejects. */
async function subscribeToShards(ledgers: readonly CreditLedger[], onChange: (account: string) => void): Promise<End> {
  const outcomes = await Promise.allSettled(ledgers.map(async (ledger) => await ledger.subscribe?.(onChange)));
  const ends = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" && outcome.value ? [outcome.value] : []));
  const end = (): Promise<void> => settleAll(ends.map(async (endOne) => await endOne()));
  const failed = outcomes.find((outcome) => outcome.status === "rejected");
  if (failed === undefined) return end;
  // What failed first matters, not that a subscription cannot be ended either.
  await end().catch(() => {});
  throw failed.reason;
}

/** Waits for all of them. @throws what the first one threw that failed, when all have ended. */
async function settleAll(promises: readonly Promise<unknown>[]): Promise<void> {
  for (const outcome of await Promise.allSettled(promises)) {
    if (outcome.status === "rejected") throw outcome.reason;
  }
}

/** What a sharded ledger consists of. */
export interface Sharding {
  readonly shards: ReadonlyMap<string, CreditLedger>;
  /** The name of the shard that keeps an account. */
  readonly shardOf: (account: string) => string;
}

interface OwnSharding extends Sharding {
  /**
   * The sharded ledger itself. A copy, a proxy or an object that inherits from it may have methods of the host's own, so
   * it counts as a ledger of its own.
   */
  readonly of: CreditLedger;
}

const shardingKey = Symbol("infergate.sharding");

/** `undefined`: the ledger is not a sharded one. */
export function shardingOf(ledger: CreditLedger): Sharding | undefined {
  const { [shardingKey]: own } = ledger as { [shardingKey]?: OwnSharding };
  return own?.of === ledger ? own : undefined;
}

/**
 * The name of the shard that keeps an account, `eu/one` where a shard is sharded itself; `""`: the ledger has no shards.
 * @throws what `shardOf` throws.
 */
export function shardPath(ledger: CreditLedger, account: string): string {
  const sharding = shardingOf(ledger);
  if (sharding === undefined) return "";
  const name = sharding.shardOf(account);
  const shard = sharding.shards.get(name);
  const inner = shard === undefined ? "" : shardPath(shard, account);
  return inner === "" ? name : `${name}/${inner}`;
}
