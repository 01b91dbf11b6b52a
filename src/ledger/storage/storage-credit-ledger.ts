import { reservedNow, withStatesNow } from "../calls/live-states.js";
import type { Clock } from "../clock.js";
import type {
  Balance,
  CreditLedger,
  GrantRequest,
  Lease,
  RenewRequest,
  RenewStatus,
  ReserveRequest,
  ReserveResult,
  Settlement,
  SettleResult,
  WindowLimits,
  WindowName,
  WindowStates,
} from "../credit-ledger.js";
import type { LedgerEngine } from "../engine/ledger-engine.js";
import {
  checkAccount,
  checkDeduct,
  checkGrant,
  checkLease,
  checkLimits,
  checkNamed,
  checkRenew,
  checkReserve,
  checkSettle,
  checkTopUp,
  checkUses,
} from "../ledger-input.js";
import type { NamedLimits } from "../limits/account-limits.js";
import { noUses } from "../limits/no-uses.js";
import type { DeductRequest, PrepaidState, TopUpRequest } from "../prepaid-state.js";
import type { RateUse } from "../rate-limit.js";
import type { DecidedOperation, Result } from "./decide.js";
import type { DecodedAccount } from "./decoded-account.js";
import { bucketName, capName, holdName, type LedgerStorage } from "./ledger-storage.js";
import { StorageLedger } from "./storage-ledger.js";

type Engine = LedgerEngine<DecodedAccount>;

const noNames: NamedLimits = Object.freeze({});
const accountsPerSweep = 1_000;

/** What a ledger over a storage does. What it shows of its journal is the storage's. */
export type StorageCreditLedger = Pick<
  CreditLedger,
  "keepsLimits" | "reserve" | "renew" | "settle" | "release" | "balance" | "grant" | "reset" | "sweep"
> &
  Required<Pick<CreditLedger, "topUp" | "deduct">>;

/**
 * A ledger over a storage that other processes share.
 *
 * @param clock - this process's. What counts is the storage's own clock.
 * @param newId - makes random texts.
 */
export function storageCreditLedger(storage: LedgerStorage, clock: Clock, newId: () => string): StorageCreditLedger {
  const ledger = new StorageLedger(storage, { now: () => clock.now(), newId });

  function run<Value>(
    account: string,
    named: Partial<Pick<DecidedOperation, "names" | "newIds" | "needsFresh">>,
    decide: (engine: Engine, now: number) => Value,
  ): Promise<Value> {
    return ledger.run(account, { names: [], newIds: [], needsFresh: isRefusal, ...named, run: decide });
  }

  function end(kind: "charge" | "release", lease: Lease, settlement: Settlement): Promise<SettleResult> {
    const names = [holdName(lease.id), ...namesOf(lease)];
    return run(lease.account, { names }, (engine, now) => withStatesNow(engine.end(kind, lease, settlement, now)));
  }

  return {
    keepsLimits: true,

    async reserve(request: ReserveRequest): Promise<ReserveResult> {
      checkReserve(request);
      const named = { names: namesOf(request), newIds: [request.id], needsFresh: isDenial };
      return run(request.account, named, (engine, now) => reservedNow(engine.reserve(request, now)));
    },

    async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
      for (const request of requests) checkRenew(request);
      return Promise.all(
        requests.map((request) =>
          run(request.lease.account, { names: [holdName(request.lease.id)] }, (engine, now) =>
            engine.renew(request, now),
          ),
        ),
      );
    },

    async settle(lease: Lease, settlement: Settlement): Promise<SettleResult> {
      checkSettle(lease, settlement);
      return end("charge", lease, settlement);
    },

    async release(lease: Lease, rates: readonly RateUse[] = noUses): Promise<SettleResult> {
      checkLease(lease);
      checkUses(rates);
      return end("release", lease, { amountMicro: 0, rates });
    },

    async balance(account: string, limits: WindowLimits, of: NamedLimits = noNames): Promise<Balance> {
      checkAccount(account);
      checkLimits(limits);
      checkNamed(of);
      const named = { names: namesOf(of), needsFresh: always };
      return run(account, named, (engine, now) => engine.balance(account, limits, of, now));
    },

    async grant(request: GrantRequest): Promise<WindowStates> {
      checkGrant(request);
      return run(request.account, { newIds: [request.id] }, (engine, now) => engine.grant(request, now));
    },

    async topUp(request: TopUpRequest): Promise<PrepaidState> {
      checkTopUp(request);
      return run(request.account, { newIds: [request.id] }, (engine, now) => engine.topUp(request, now));
    },

    async deduct(request: DeductRequest): Promise<PrepaidState> {
      checkDeduct(request);
      return run(request.account, { newIds: [request.id] }, (engine, now) => engine.deduct(request, now));
    },

    async reset(account: string, windows: readonly WindowName[]): Promise<void> {
      checkAccount(account);
      return run(account, {}, (engine, now) => engine.reset(account, windows, now));
    },

    async sweep(): Promise<number> {
      const due = await ledger.due(accountsPerSweep);
      const ended = await Promise.all(
        due.map((account) => run(account, { needsFresh: always }, (engine, now) => engine.endExpired(account, now))),
      );
      return ended.reduce((sum, count) => sum + count, 0);
    },
  };
}

function namesOf({ caps = [], rates = [] }: NamedLimits | Lease): string[] {
  return [...caps.map(({ id }) => capName(id)), ...rates.map(({ id }) => bucketName(id))];
}

const always = () => true;

function isRefusal(result: Result): boolean {
  return "refusal" in result;
}

function isDenial(result: Result): boolean {
  return isRefusal(result) || ("value" in result && !(result.value as ReserveResult).ok);
}
