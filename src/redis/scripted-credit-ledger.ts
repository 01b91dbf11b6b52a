import { randomUUID } from "node:crypto";
import { admittingInstances, blockedWindows, currentStates, windowStates } from "../ledger/account-state.js";
import { Announcements } from "../ledger/announcements.js";
import {
  type Blocked,
  type CreditLedger,
  type GrantRequest,
  type HistoryPage,
  type HistoryRequest,
  type Lease,
  LedgerUnavailableError,
  type RenewRequest,
  type RenewStatus,
  type ReserveRequest,
  type ReserveResult,
  type Settlement,
  type SettleResult,
  type SettleStatus,
  type WindowLimits,
  type WindowName,
  type WindowStates,
} from "../ledger/credit-ledger.js";
import {
  checkAccount,
  checkGrant,
  checkHistory,
  checkLimits,
  checkRenew,
  checkReserve,
  checkSettle,
} from "../ledger/ledger-input.js";
import { AccountKeys } from "./account-keys.js";
import { type JournalEntry, streamRange, toLedgerEntry } from "./journal-entry.js";
import {
  errorOf,
  type LedgerReply,
  leaseOf,
  newestInstancesOf,
  nowOf,
  openInstancesOf,
  statusOf,
} from "./ledger-reply.js";
import type { LedgerScripts } from "./ledger-scripts.js";
import { announce } from "./lua/announce.js";
import type { RunScript } from "./run-script.js";
import { makeScript, type Script } from "./script.js";

/** What a {@link ScriptedCreditLedger} is made of. */
export interface LedgerParts {
  run: RunScript;
  scripts: LedgerScripts;
  prefix: string;
  /** Entries that an account's journal keeps; 0: none. */
  journalEntries: number;
  journalMs: number;
  /** The channel for notices of grants, resets and forgotten accounts. */
  channel: string;
}

/** A script keeps the server from its other clients, so it renews no more than this many leases. */
const mostRenewals = 100;
const defaultPageLength = 100;

const announceScript = makeScript(announce);

/** The ledger's operations as scripts: each is one round trip, unless very many holds of the account have expired at once. */
export class ScriptedCreditLedger implements CreditLedger {
  readonly #run: RunScript;
  readonly #scripts: LedgerScripts;
  readonly #keys: AccountKeys;
  readonly #journal: readonly [entries: number, retentionMs: number];
  readonly #announcements: Announcements;

  constructor({ run, scripts, prefix, journalEntries, journalMs, channel }: LedgerParts) {
    this.#run = run;
    this.#scripts = scripts;
    this.#keys = new AccountKeys(prefix);
    this.#journal = [journalEntries, journalMs];
    this.#announcements = new Announcements((accounts) =>
      run(announceScript, this.#keys.of(accounts[0] as string).slice(0, 1), [
        channel,
        ...accounts.map((account) => `account ${account}`),
      ]),
    );
  }

  async reserve(request: ReserveRequest): Promise<ReserveResult> {
    checkReserve(request);
    const { id, account, amountMicro, limits, leaseMs, strict = false } = request;
    const need = strict ? Math.max(1, amountMicro) : 1;
    const reply = await this.#update(this.#scripts.reserve, this.#keys.of(account, `ended:${id}`), [
      id,
      amountMicro,
      leaseMs,
      need,
      limits.session.limitMicro ?? -1,
      limits.week.limitMicro ?? -1,
      limits.month.limitMicro ?? -1,
      limits.session.lengthMs,
      ...boundsOf(limits),
    ]);
    throwErrorOf(reply, id, amountMicro);
    const now = nowOf(reply);
    const open = openInstancesOf(reply);
    const windows = windowStates(open, limits);
    const status = statusOf(reply);
    if (status === "denied") {
      // The script has decided by the same rule. The windows that it returned show which one denied, and until when.
      const blocked = blockedWindows(open, limits, need, now) as [Blocked, ...Blocked[]];
      return { ok: false, blocked, windows, now };
    }
    return { ok: true, lease: leaseOf(reply, request), windows, now, replayed: status === "replayed" };
  }

  async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
    for (const request of requests) checkRenew(request);
    const statuses: RenewStatus[] = new Array(requests.length);
    await Promise.all(
      batches(requests).map(async (batch) => {
        const replies = await this.#renewBatch(batch.map(([, request]) => request));
        for (const [place, [index]] of batch.entries()) statuses[index] = replies[place] as RenewStatus;
      }),
    );
    return statuses;
  }

  settle(lease: Lease, settlement: Settlement): Promise<SettleResult> {
    return this.#settle("charge", lease, settlement);
  }

  release(lease: Lease): Promise<SettleResult> {
    return this.#settle("release", lease, { amountMicro: 0 });
  }

  async balance(account: string, limits: WindowLimits): Promise<{ windows: WindowStates; now: number }> {
    checkAccount(account);
    checkLimits(limits);
    const reply = await this.#send(this.#scripts.balance, this.#keys.of(account), []);
    const now = nowOf(reply);
    return { windows: windowStates(admittingInstances(newestInstancesOf(reply), limits, now), limits), now };
  }

  async grant(request: GrantRequest): Promise<WindowStates> {
    checkGrant(request);
    const { id, account, window, amountMicro, limits, note } = request;
    const tags = note === undefined ? "" : JSON.stringify({ note });
    const keys = this.#keys.of(account, `grant:${id}`);
    const args = [id, window, tags, amountMicro, ...boundsOf(limits)];
    const reply = await this.#update(this.#scripts.grant, keys, args);
    throwErrorOf(reply, id, amountMicro);
    this.#announcements.add(account);
    return windowStates(openInstancesOf(reply), limits);
  }

  async reset(account: string, windows: readonly WindowName[]): Promise<void> {
    checkAccount(account);
    const named = windows.map((window) => [window, `reset_${randomUUID()}`]);
    await this.#update(this.#scripts.reset, this.#keys.of(account), [named]);
    this.#announcements.add(account);
  }

  async history(request: HistoryRequest): Promise<HistoryPage> {
    checkHistory(request);
    const { account, limit = defaultPageLength } = request;
    const { newest, oldest } = streamRange(request);
    // Reads one entry more than the page, to see whether there is another page.
    const reply = await this.#send(this.#scripts.history, this.#keys.of(account), [newest, oldest, limit + 1]);
    const entries = (reply as readonly unknown[] as readonly JournalEntry[]).map(toLedgerEntry);
    if (entries.length <= limit) return { entries };
    return { entries: entries.slice(0, limit), cursor: entries[limit - 1]?.sequence };
  }

  async forget(account: string): Promise<void> {
    checkAccount(account);
    await this.#send(this.#scripts.forget, this.#keys.of(account), []);
    this.#announcements.add(account);
  }

  /** The client stays open: it is the host's. */
  async close(): Promise<void> {
    await this.#announcements.idle();
  }

  async #settle(kind: "charge" | "release", lease: Lease, settlement: Settlement): Promise<SettleResult> {
    checkSettle(lease, settlement);
    const { id, account, amountMicro, expiresAt, starts, ends, limits } = lease;
    const { mayBeDuplicateSince = Number.MAX_SAFE_INTEGER, tags } = settlement;
    const reply = await this.#update(this.#scripts.settle, this.#keys.of(account, `ended:${id}`), [
      id,
      kind,
      tags === undefined ? "" : JSON.stringify(tags),
      settlement.amountMicro,
      mayBeDuplicateSince,
      amountMicro,
      expiresAt,
      starts.session,
      starts.week,
      starts.month,
      ends.session,
      ends.week,
      ends.month,
    ]);
    throwErrorOf(reply, id);
    const windows = currentStates(newestInstancesOf(reply), limits, nowOf(reply));
    return { status: statusOf(reply) as SettleStatus, windows };
  }

  /** @param requests - all of one account. */
  async #renewBatch(requests: readonly RenewRequest[]): Promise<readonly string[]> {
    const account = requests[0]?.lease.account as string;
    const [, ...statuses] = await this.#update(this.#scripts.renew, this.#keys.of(account), [
      requests.map(({ lease, observedMicro, leaseMs }) => [lease.id, lease.amountMicro, observedMicro, leaseMs]),
    ]);
    for (const [index, status] of statuses.entries()) throwErrorOf([status], requests[index]?.lease.id as string);
    return statuses.map(String);
  }

  /** Repeats the script while it returns that it has ended only some of many expired holds. */
  async #update(script: Script, keys: readonly string[], args: readonly unknown[]): Promise<LedgerReply> {
    for (;;) {
      const reply = await this.#send(script, keys, args);
      if (statusOf(reply) !== "again") return reply;
    }
  }

  async #send(script: Script, keys: readonly string[], args: readonly unknown[]): Promise<LedgerReply> {
    try {
      return (await this.#run(script, keys, [JSON.stringify([...this.#journal, ...args])])) as LedgerReply;
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      throw new LedgerUnavailableError(`Redis did not carry out an operation of the ledger: ${reason}`, { cause });
    }
  }
}

function boundsOf({ week, month }: WindowLimits): readonly number[] {
  return [...week.bounds, ...month.bounds];
}

function throwErrorOf(reply: LedgerReply, id: string, amount?: number): void {
  const error = errorOf(reply, id, amount);
  if (error) throw error;
}

/** By account, and within it in parts of what one script may do. Each request goes with its place. */
function batches(requests: readonly RenewRequest[]): (readonly [index: number, request: RenewRequest])[][] {
  const byAccount = new Map<string, [number, RenewRequest][]>();
  for (const [index, request] of requests.entries()) {
    const { account } = request.lease;
    const others = byAccount.get(account);
    if (others) others.push([index, request]);
    else byAccount.set(account, [[index, request]]);
  }
  return [...byAccount.values()].flatMap((all) =>
    Array.from({ length: Math.ceil(all.length / mostRenewals) }, (_, part) =>
      all.slice(part * mostRenewals, (part + 1) * mostRenewals),
    ),
  );
}
