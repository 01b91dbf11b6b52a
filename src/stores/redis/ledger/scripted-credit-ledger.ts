import { Announcements } from "../../../ledger/announcements.js";
import {
  type Balance,
  type CreditLedger,
  type GrantRequest,
  type HistoryPage,
  type HistoryRequest,
  type Lease,
  LedgerConflictError,
  type LedgerEntry,
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
} from "../../../ledger/credit-ledger.js";
import { isAsked } from "../../../ledger/journal.js";
import {
  checkAccount,
  checkDeduct,
  checkGrant,
  checkHistory,
  checkLimits,
  checkNamed,
  checkRenew,
  checkReserve,
  checkSettle,
  checkTopUp,
} from "../../../ledger/ledger-input.js";
import type { DeductRequest, PrepaidState, RateUse, TopUpRequest } from "../../../ledger/limits.js";
import { promised } from "../../../ledger/promised.js";
import type { NamedLimits } from "../../../ledger/rules/account-limits.js";
import { newPrepaid, prepaidState } from "../../../ledger/rules/prepaid.js";
import { creditsAfter, creditsOf, judgeReservation, neededMicro } from "../../../ledger/rules/reservation.js";
import { StatementBooks } from "../../../ledger/rules/statement.js";
import { admittingInstances, windowStates } from "../../../ledger/rules/windows.js";
import type { AccountStatement, StatementRequest } from "../../../ledger/usage/usage-request.js";
import { runtime } from "../../../runtime/this-runtime.js";
import { AccountKeys } from "../account-keys.js";
import { mostEnded } from "../lua/leases.js";
import { announce } from "../lua/prelude.js";
import { makeScript, type RunScript, type Script } from "../script.js";
import {
  idBefore,
  isGone,
  type JournalEntry,
  oldestOf,
  type StoredState,
  streamRange,
  toLedgerEntry,
  toStoredState,
} from "./journal-entry.js";
import {
  conflictOf,
  decodeReplies,
  errorOf,
  type LedgerReply,
  leaseOf,
  limitsOf,
  NewestInstances,
  nowOf,
  openInstancesOf,
} from "./ledger-reply.js";
import { claimTopUpId, type LedgerScripts } from "./ledger-scripts.js";
import { LoneAnnouncements, LoneOperations, OperationLanes } from "./operation-lanes.js";
import { type BatchSizes, unavailable } from "./operation-queue.js";
import { forgetText, grantText, renewal, reserveText, resetText, settleText, topUpText } from "./operation-text.js";
import { type LeasedWindows, RecentAccounts } from "./recent-accounts.js";
import { operationRunner } from "./run-operations.js";
import { DueAccounts, sweepAccounts } from "./sweep-accounts.js";

/** What a {@link ScriptedCreditLedger} is made of. */
export interface LedgerParts {
  run: RunScript;
  /** Whether `run` can return bytes. */
  returnsBytes: boolean;
  /** Whether accounts are spread over several servers. */
  isCluster: boolean;
  /** Whether no operation may wait for what another one has begun. */
  isolate: boolean;
  batch: BatchSizes;
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
const entriesPerPage = 500;
const noNames: NamedLimits = Object.freeze({});

const announceScript = makeScript(announce);

/**
 * The ledger's operations as scripts. Those that change an account go together with others, in one script; the rest are one
 * script each. Each is one round trip, unless very many holds of the account have expired at once. Top-ups and deductions
 * are two.
 */
export class ScriptedCreditLedger implements CreditLedger {
  readonly #run: RunScript;
  readonly #scripts: LedgerScripts;
  readonly #prefix: string;
  readonly #keys: AccountKeys;
  readonly #recent: RecentAccounts;
  readonly #journal: readonly [entries: number, retentionMs: number];
  /** As the scripts take it: whether their replies are to be text. */
  readonly #isText: 0 | 1;
  readonly #lanes: Pick<OperationLanes, "submit" | "idle">;
  readonly #due: DueAccounts;
  readonly #announcements: Pick<Announcements, "add" | "idle">;
  readonly #newest = new NewestInstances();

  constructor(parts: LedgerParts) {
    const { run, returnsBytes, isolate, scripts, prefix, journalEntries, journalMs, channel } = parts;
    this.#run = run;
    this.#isText = returnsBytes ? 0 : 1;
    this.#scripts = {
      ...scripts,
      operate: { ...scripts.operate, returnsBytes },
      balance: { ...scripts.balance, returnsBytes },
    };
    this.#prefix = prefix;
    this.#keys = new AccountKeys(prefix);
    this.#recent = new RecentAccounts(this.#keys);
    this.#due = new DueAccounts(run, scripts, prefix);
    this.#journal = [journalEntries, journalMs];
    const head = `${journalEntries},${journalMs},${this.#isText}`;
    const runOperations = operationRunner({ run, script: this.#scripts.operate, head });
    this.#lanes = isolate
      ? new LoneOperations(runOperations)
      : new OperationLanes(runOperations, parts.batch, parts.isCluster);
    const notify = (accounts: readonly string[]) =>
      run(announceScript, this.#recent.get(accounts[0] as string).keys.names.slice(0, 1), [
        channel,
        ...accounts.map((account) => `account ${account}`),
      ]);
    this.#announcements = isolate ? new LoneAnnouncements(notify) : new Announcements(notify);
  }

  reserve(request: ReserveRequest): Promise<ReserveResult> {
    return promised(() => {
      checkReserve(request);
      const { id, account, limits } = request;
      const recent = this.#recent.get(account);
      const text = reserveText(request, neededMicro(request), recent.limits.of(limits));
      const operation = { account, keys: recent.keys, text, ownKey: `ended:${id}` };
      return this.#lanes.submit(operation, (reply) => this.#reserved(request, recent.windows, reply));
    });
  }

  #reserved(request: ReserveRequest, windows: LeasedWindows, reply: LedgerReply): ReserveResult {
    const { id, amountMicro, limits } = request;
    throwErrorOf(reply, id, amountMicro);
    const now = nowOf(reply);
    const beside = limitsOf(reply, request);
    const credits = creditsOf(this.#newest.read(reply, beside?.limits), limits, request, now);
    if (reply.status === "denied") {
      // The script has decided by the same rules; what it returned shows them again.
      const { denial } = judgeReservation(openInstancesOf(reply), beside?.limits, request, now);
      return { ok: false, blocked: [], ...denial, ...credits, now };
    }
    const lease = leaseOf(reply, request, windows, beside?.part);
    return { ok: true, lease, ...credits, now, replayed: reply.status === "replayed" };
  }

  async renew(requests: readonly RenewRequest[]): Promise<readonly RenewStatus[]> {
    for (const request of requests) checkRenew(request);
    const statuses: RenewStatus[] = new Array(requests.length);
    // First, so that no cost is stored of which a sweep might not learn. On a cluster another server may keep that, which
    // must not fail these accounts: the next renewal notes them again, and an operation ends their leases without a sweep.
    const noted = this.#due.note(requests).catch(() => {});
    const renewals = batches(requests).map(async (batch) => {
      const replies = await this.#renewBatch(batch.map(([, request]) => request));
      for (const [place, [index]] of batch.entries()) statuses[index] = replies[place] as RenewStatus;
    });
    await Promise.all([noted, ...renewals]);
    return statuses;
  }

  settle(lease: Lease, settlement: Settlement): Promise<SettleResult> {
    return this.#settle("charge", lease, settlement);
  }

  release(lease: Lease, rates?: readonly RateUse[]): Promise<SettleResult> {
    return this.#settle("release", lease, { amountMicro: 0, rates });
  }

  async balance(account: string, limits: WindowLimits, of: NamedLimits = noNames): Promise<Balance> {
    checkAccount(account);
    checkLimits(limits);
    checkNamed(of);
    const [caps, rates] = [of.caps ?? [], of.rates ?? []].map((named) => named.map(({ id }) => id));
    const packed = await this.#send(this.#scripts.balance, account, [this.#isText, caps, rates]);
    const reply = decodeReplies(packed)[0] as LedgerReply;
    const now = nowOf(reply);
    const newest = this.#newest.read(reply, limitsOf(reply, of)?.limits);
    const windows = windowStates(admittingInstances(newest, limits, now), limits);
    return { ...creditsOf(newest, limits, of, now), windows, now };
  }

  async grant(request: GrantRequest): Promise<WindowStates> {
    checkGrant(request);
    const { id, account, amountMicro, limits } = request;
    const reply = await this.#submit(account, grantText(request), `grant:${id}`);
    throwErrorOf(reply, id, amountMicro);
    this.#announcements.add(account);
    return windowStates(openInstancesOf(reply), limits);
  }

  async topUp(request: TopUpRequest): Promise<PrepaidState> {
    checkTopUp(request);
    return this.#changePrepaid(request);
  }

  async deduct(request: DeductRequest): Promise<PrepaidState> {
    checkDeduct(request);
    return this.#changePrepaid({ ...request, amountMicro: -request.amountMicro });
  }

  async claimTopUp(id: string, account: string): Promise<void> {
    const isOwn = await claimTopUpId(this.#run, this.#prefix, id, account).catch(rejectUnavailable);
    if (!isOwn) throw new LedgerConflictError(`${id} was used before with another account.`);
  }

  async sweep(): Promise<number> {
    const args = [JSON.stringify(this.#journal)];
    return await sweepAccounts(this.#due, async (digest) => {
      const reply = await this.#run(this.#scripts.sweep, this.#keys.ofDigest(digest), args);
      const [ended, nextEnd] = reply as readonly unknown[];
      return [Number(ended), String(nextEnd)];
    }).catch(rejectUnavailable);
  }

  async reset(account: string, windows: readonly WindowName[]): Promise<void> {
    checkAccount(account);
    const named = windows.map((window) => [window, `reset_${runtime.randomUUID()}`] as const);
    await this.#submit(account, resetText(named));
    this.#announcements.add(account);
  }

  async history(request: HistoryRequest): Promise<HistoryPage> {
    checkHistory(request);
    const { account, limit = defaultPageLength, kinds, id } = request;
    const { newest, oldest } = streamRange(request);
    // Reads one entry more than the page, to see whether there is another page.
    const isFiltered = kinds !== undefined || id !== undefined;
    const readAtOnce = isFiltered ? Math.max(entriesPerPage, limit + 1) : limit + 1;
    const entries: LedgerEntry[] = [];
    for await (const page of this.#pages(account, { newest, oldest }, readAtOnce)) {
      for (const entry of page) if (isAsked(entry, request)) entries.push(entry);
      if (entries.length > limit) return { entries: entries.slice(0, limit), cursor: entries[limit - 1]?.sequence };
    }
    return { entries };
  }

  /** The entries between two ids, both inclusive, the newest first. */
  async *#pages(
    account: string,
    { newest, oldest }: { newest: string; oldest: string },
    readAtOnce: number,
  ): AsyncGenerator<readonly LedgerEntry[], void, void> {
    let next: string | undefined = newest;
    while (next !== undefined) {
      const reply: unknown = await this.#send(this.#scripts.history, account, [next, oldest, readAtOnce]);
      const page = (reply as readonly JournalEntry[]).map(toLedgerEntry);
      yield page;
      const last = page.at(-1);
      next = last === undefined || page.length < readAtOnce ? undefined : idBefore(last.sequence);
    }
  }

  async statement(request: StatementRequest): Promise<AccountStatement> {
    checkHistory(request);
    const { account } = request;
    await this.#endDue(account);
    const { newest, ...state } = await this.#stateOf(account);
    const { from } = new StatementBooks(request, state);
    // What comes into the journal from now on stands behind the newest entry. So what is read of it is of that moment.
    const entries: LedgerEntry[] = [];
    if (newest !== undefined) {
      const range = { newest, oldest: oldestOf(from) };
      for await (const page of this.#pages(account, range, entriesPerPage)) entries.push(...page);
    }
    // It pushes the oldest ones out, perhaps before they were read.
    const { oldest, keptFrom } = await this.#stateOf(account);
    // The account was forgotten meanwhile.
    if (newest !== undefined && isGone(newest, oldest)) return this.statement(request);
    const books = new StatementBooks(request, { ...state, keptFrom });
    for (const entry of entries) books.add(entry);
    return books.statement();
  }

  async #stateOf(account: string): Promise<StoredState> {
    const [entries, ms] = this.#journal;
    const reply = (await this.#send(this.#scripts.statement, account, [])) as readonly unknown[];
    return toStoredState(reply, { entries, ms });
  }

  /** Ends the leases that have expired, as operations do before anything else. */
  async #endDue(account: string): Promise<void> {
    const args = [JSON.stringify(this.#journal)];
    let ended: number;
    do {
      const reply = this.#run(this.#scripts.sweep, this.#keys.of(account), args).catch(rejectUnavailable);
      ended = Number(((await reply) as readonly unknown[])[0]);
    } while (ended >= mostEnded);
  }

  async forget(account: string): Promise<void> {
    checkAccount(account);
    await this.#submit(account, forgetText);
    this.#announcements.add(account);
  }

  /** Resolves when all that was submitted has ended. The client stays open: it is the host's. */
  async close(): Promise<void> {
    await this.#lanes.idle();
    await this.#announcements.idle();
  }

  #settle(kind: "charge" | "release", lease: Lease, settlement: Settlement): Promise<SettleResult> {
    return promised(() => {
      checkSettle(lease, settlement);
      const { id, account } = lease;
      const { keys, windows } = this.#recent.get(account);
      const text = settleText(kind, lease, settlement, windows);
      return this.#lanes.submit({ account, keys, text, ownKey: `ended:${id}` }, (reply) => this.#settled(lease, reply));
    });
  }

  #settled(lease: Lease, reply: LedgerReply): SettleResult {
    throwErrorOf(reply, lease.id);
    const beside = limitsOf(reply, lease);
    const credits = creditsAfter(this.#newest.read(reply, beside?.limits), lease, nowOf(reply));
    const status = reply.status as SettleStatus;
    const prepaidMicro = beside?.prepaidMicro ?? 0;
    return prepaidMicro === 0 ? { status, ...credits } : { status, prepaidMicro, ...credits };
  }

  /** @param request - its amount is negative where that is taken back. */
  async #changePrepaid(request: TopUpRequest): Promise<PrepaidState> {
    const { id, account, amountMicro } = request;
    await this.claimTopUp(id, account);
    const reply = await this.#submit(account, topUpText(request), `topup:${id}`);
    throwErrorOf(reply, id, amountMicro);
    this.#announcements.add(account);
    return prepaidState(limitsOf(reply, noNames)?.limits.prepaid ?? newPrepaid(), nowOf(reply));
  }

  #submit(account: string, text: string, ownKey?: string): Promise<LedgerReply> {
    return this.#lanes.submit({ account, keys: this.#recent.get(account).keys, text, ownKey });
  }

  /** @param requests - all of one account. */
  async #renewBatch(requests: readonly RenewRequest[]): Promise<readonly string[]> {
    const account = requests[0]?.lease.account as string;
    const [, ...statuses] = await this.#update(this.#scripts.renew, account, [requests.map(renewal)]);
    for (const [index, status] of statuses.entries()) {
      if (status === "conflict") throw conflictOf(requests[index]?.lease.id as string);
    }
    return statuses;
  }

  /** Repeats the script while it returns that it has ended only some of many expired holds. */
  async #update(script: Script, account: string, args: readonly unknown[]): Promise<readonly string[]> {
    for (;;) {
      const reply = ((await this.#send(script, account, args)) as readonly unknown[]).map(String);
      if (reply[0] !== "again") return reply;
    }
  }

  async #send(script: Script, account: string, args: readonly unknown[]): Promise<unknown> {
    const text = JSON.stringify([...this.#journal, ...args]);
    return await this.#run(script, this.#recent.get(account).keys.names, [text]).catch(rejectUnavailable);
  }
}

function rejectUnavailable(cause: unknown): never {
  throw unavailable(cause);
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
