import { runtime } from "../../runtime/this-runtime.js";
import { Announcements } from "../announcements.js";
import { type Clock, checkedRetention, systemClock } from "../calendar.js";
import type {
  Balance,
  CreditLedger,
  GrantRequest,
  HistoryPage,
  HistoryRequest,
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
  checkHistory,
  checkLease,
  checkLimits,
  checkNamed,
  checkRenew,
  checkReserve,
  checkSettle,
  checkTopUp,
  checkTotals,
  checkUsage,
  checkUses,
} from "../ledger-input.js";
import { isLedgerError } from "../ledger-refusal.js";
import type { DeductRequest, PrepaidState, RateUse, TopUpRequest } from "../limits.js";
import { atMost } from "../promised.js";
import type { NamedLimits } from "../rules/account-limits.js";
import { noUses } from "../rules/rates.js";
import type {
  AccountStatement,
  PeriodTotal,
  StatementRequest,
  TotalsRequest,
  UsageRequest,
  UsageSum,
} from "../usage/usage-request.js";
import { reservedNow, withStatesNow } from "../window-states.js";
import { Caretaker } from "./caretaker.js";
import type { DecidedOperation, Result } from "./decide.js";
import type { DecodedAccount } from "./decoded-account.js";
import { bucketName, capName, holdName, type LedgerStorage } from "./ledger-storage.js";
import { StorageLedger, toUnavailable } from "./storage-ledger.js";
import { claimStored } from "./stored-claims.js";
import { historyOf } from "./stored-journal.js";
import { statementOf, totalsOf, usageOf } from "./stored-usage.js";

type Engine = LedgerEngine<DecodedAccount>;

const noNames: NamedLimits = Object.freeze({});
const accountsPerSweep = 1_000;
/** Of a forgotten account: lines of a journal, or sums. */
const forgottenAtOnce = 10_000;
/** How long a change waits for its notice where it must be sent before the operation is over. */
const announceMs = 250;

export interface StorageCreditLedgerOptions {
  /** This process's. What counts is the storage's own clock. Default: the process's clock. */
  readonly clock?: Clock | undefined;
  /** How long entries of the journal are kept, in milliseconds. Default: 400 days. */
  readonly retentionMs?: number | undefined;
  /**
   * Whether nothing may go on when an operation is over, as where a process stands still between requests. Then a grant, reset
   * or top-up waits for its notice, some tenths of a second at the most. Default: `false`.
   */
  readonly isolate?: boolean | undefined;
}

/** A ledger over a storage that other processes share. What is too old goes while it is swept. */
export function storageCreditLedger(
  storage: LedgerStorage,
  { clock = systemClock, retentionMs, isolate = false }: StorageCreditLedgerOptions = {},
): CreditLedger {
  const newId = () => runtime.randomUUID();
  const now = () => clock.now();
  const ledger = new StorageLedger(storage, { now, newId });
  const announcements = new Announcements(async (accounts) => storage.announce?.(accounts));
  const endDue = (account: string) =>
    run(account, { needsFresh: always }, (engine, at) => void engine.find(account, at));
  const caretaker = new Caretaker({ storage, now, newId, retentionMs: checkedRetention(retentionMs) });

  /** Tells that an account may have credits again, when that is done. */
  async function announced<Value>(account: string, done: Promise<Value>): Promise<Value> {
    const value = await done;
    if (storage.announce !== undefined) announcements.add(account);
    if (isolate) await atMost(announceMs, announcements.idle());
    return value;
  }

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
      const decide = (engine: Engine, at: number) => engine.grant(request, at);
      return announced(request.account, run(request.account, { newIds: [request.id] }, decide));
    },

    async topUp(request: TopUpRequest): Promise<PrepaidState> {
      checkTopUp(request);
      const decide = (engine: Engine, at: number) => engine.topUp(request, at);
      return announced(request.account, run(request.account, { newIds: [request.id] }, decide));
    },

    async deduct(request: DeductRequest): Promise<PrepaidState> {
      checkDeduct(request);
      const decide = (engine: Engine, at: number) => engine.deduct(request, at);
      return announced(request.account, run(request.account, { newIds: [request.id] }, decide));
    },

    async reset(account: string, windows: readonly WindowName[]): Promise<void> {
      checkAccount(account);
      return announced(
        account,
        run(account, {}, (engine, at) => engine.reset(account, windows, at)),
      );
    },

    async sweep(): Promise<number> {
      const due = await reached(() => storage.due(accountsPerSweep));
      const ended = await Promise.allSettled(
        due.map((account) => run(account, { needsFresh: always }, (engine, now) => engine.endExpired(account, now))),
      );
      // Nobody waits for it: the next round does what this one did not.
      await caretaker.round().catch(() => {});
      const failed = ended.find((one) => one.status === "rejected");
      if (failed !== undefined) throw failed.reason;
      return ended.reduce((sum, one) => sum + (one.status === "fulfilled" ? one.value : 0), 0);
    },

    async claimTopUp(id: string, account: string): Promise<void> {
      checkTopUp({ id, account, amountMicro: 1 });
      return reached(() => claimStored(storage, newId, { id, account }));
    },

    ...booksOf(storage, endDue),

    async forget(account: string): Promise<void> {
      checkAccount(account);
      const forgotten = async () => {
        while (await storage.forget(account, forgottenAtOnce));
      };
      return announced(account, reached(forgotten));
    },

    ...(storage.subscribe !== undefined && {
      subscribe: (onChange: (account: string) => void) => (storage as SubscribedStorage).subscribe(onChange),
    }),

    async close(): Promise<void> {
      await ledger.idle();
      await announcements.idle();
    },
  };
}

/** What a ledger shows of its journal. @param endDue - ends what is due in an account. */
function booksOf(
  storage: LedgerStorage,
  endDue: (account: string) => Promise<void>,
): Pick<CreditLedger, "history" | "usage" | "totals" | "statement"> {
  return {
    async history(request: HistoryRequest): Promise<HistoryPage> {
      checkHistory(request);
      return reached(() => historyOf(storage, request));
    },

    ...(storage.sums !== undefined && {
      async usage(request: UsageRequest): Promise<readonly UsageSum[]> {
        checkUsage(request);
        return reached(() => usageOf(storage, request));
      },

      async totals(request: TotalsRequest): Promise<readonly PeriodTotal[]> {
        checkTotals(request);
        return reached(() => totalsOf(storage, request));
      },
    }),

    async statement(request: StatementRequest): Promise<AccountStatement> {
      checkHistory(request);
      await endDue(request.account);
      return reached(() => statementOf(storage, request));
    },
  };
}

type SubscribedStorage = Required<Pick<LedgerStorage, "subscribe">>;

/** @throws LedgerUnavailableError where the storage fails. */
async function reached<Value>(read: () => Promise<Value>): Promise<Value> {
  try {
    return await read();
  } catch (error) {
    throw isLedgerError(error) ? error : toUnavailable(error);
  }
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
