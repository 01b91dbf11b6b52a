import { type Indexed, IndexedSet } from "../ledger/indexed-set.js";
import { waitFor } from "../routing/wait-for.js";
import { IdleWaits } from "../runtime/background-work.js";

/** Why the gateway aborted a call. `upstream_timeout`: the response took longer than allowed. */
export type AbortReason = "client_gone" | "shutdown" | "upstream_timeout";

/** A call in progress, as {@link OpenCalls} uses it when the gateway closes. */
export interface OpenCall extends Indexed {
  /** Of {@link OpenCalls.expect}, which is where the call began. */
  readonly number: number;
  /** Aborts the call. It then ends by itself. */
  abort(reason: AbortReason): void;
  /** Settles the call at once, with what is known. */
  abandon(): void;
}

/** How long an aborted call may take to end by itself, in milliseconds. */
export const lastGraceMs = 1000;

/** How long the settlements of abandoned calls may take, in milliseconds. */
const settleGraceMs = 5000;

/** How long a call of an isolate counts as open, in milliseconds: the runtime may have cut it off without a word. */
const longestInIsolateMs = 15 * 60_000;

/** The calls in progress. The gateway waits for them when it closes. */
export class OpenCalls {
  readonly #calls = new IndexedSet<OpenCall>();
  /** In an isolate: since when each call is open. The oldest is the first. `undefined`: elsewhere, where each ends itself. */
  readonly #since: Map<OpenCall, number> | undefined;
  /** Calls that are being admitted. Their credits may be held already. */
  #expected = 0;
  #isClosing = false;
  #isBreakingOff = false;
  #emptied: (() => void) | undefined;
  readonly #idleWaits = new IdleWaits();

  /** @param isolate - whether the runtime may cut calls off: see `isIsolate`. */
  constructor(isolate = false) {
    this.#since = isolate ? new Map() : undefined;
  }

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** A call is about to hold credits. @returns its number, for {@link add} or {@link giveUp}. */
  expect(): number {
    this.#expected++;
    return this.#idleWaits.begin();
  }

  /** An expected call is not admitted, or has its response already. */
  giveUp(number: number): void {
    this.#expected--;
    this.#idleWaits.ended(number);
    this.#checkEmpty();
  }

  /** An expected call is admitted. */
  add(call: OpenCall): void {
    this.#expected--;
    this.#calls.add(call);
    if (this.#since !== undefined) this.#letGo(this.#since, call);
    if (this.#isBreakingOff) call.abort("shutdown");
  }

  remove(call: OpenCall): void {
    if (!this.#calls.has(call)) return;
    this.#calls.remove(call);
    this.#since?.delete(call);
    this.#idleWaits.ended(call.number);
    this.#checkEmpty();
  }

  /** Resolves when the calls that are open or being admitted now have ended, or after `maxMs`. */
  idle(maxMs: number): Promise<void> {
    return this.#idleWaits.idle(this.#calls.size + this.#expected, maxMs);
  }

  /** Waits for calls to end, for `graceMs` at most; then aborts them. Resolves when all are settled. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await this.#empty(graceMs);
    this.#isBreakingOff = true;
    for (const call of this.#calls.list()) call.abort("shutdown");
    await this.#empty(lastGraceMs);
    // Stalled clients neither read on nor leave.
    for (const call of this.#calls.list()) call.abandon();
    await this.#empty(settleGraceMs);
  }

  #letGo(since: Map<OpenCall, number>, call: OpenCall): void {
    const now = performance.now();
    for (const [old, at] of since) {
      if (now - at < longestInIsolateMs) break;
      this.remove(old);
    }
    since.set(call, now);
  }

  get #isEmpty(): boolean {
    return this.#calls.size === 0 && this.#expected === 0;
  }

  #checkEmpty(): void {
    if (this.#isEmpty) this.#emptied?.();
  }

  async #empty(withinMs: number): Promise<void> {
    if (this.#isEmpty) return;
    await waitFor(withinMs, [], (wake) => {
      this.#emptied = wake;
    });
  }
}
