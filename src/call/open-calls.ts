import { type Indexed, IndexedSet } from "../ledger/indexed-set.js";
import { waitFor } from "../routing/wait-for.js";

/** Why the gateway aborted a call. `upstream_timeout`: the response took longer than allowed. */
export type AbortReason = "client_gone" | "shutdown" | "upstream_timeout";

/** A call in progress, as {@link OpenCalls} uses it when the gateway closes. */
export interface OpenCall extends Indexed {
  /** Aborts the call. It then ends by itself. */
  abort(reason: AbortReason): void;
  /** Settles the call at once, with what is known. */
  abandon(): void;
}

/** Waits for calls to end. */
interface IdleWaiter {
  ended(call: OpenCall): void;
}

/** How long an aborted call may take to end by itself, in milliseconds. */
export const lastGraceMs = 1000;

/** How long the settlements of abandoned calls may take, in milliseconds. */
const settleGraceMs = 5000;

/** The calls in progress. The gateway waits for them when it closes. */
export class OpenCalls {
  readonly #calls = new IndexedSet<OpenCall>();
  /** Calls that are being admitted. Their credits may be held already. */
  #expected = 0;
  #isClosing = false;
  #isBreakingOff = false;
  #emptied: (() => void) | undefined;
  readonly #waiters = new Set<IdleWaiter>();

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** A call is about to hold credits. */
  expect(): void {
    this.#expected++;
  }

  /** The call was added, or was not admitted. */
  expected(): void {
    this.#expected--;
    this.#checkEmpty();
  }

  add(call: OpenCall): void {
    this.#calls.add(call);
    if (this.#isBreakingOff) call.abort("shutdown");
  }

  remove(call: OpenCall): void {
    this.#calls.remove(call);
    for (const waiter of this.#waiters) waiter.ended(call);
    this.#checkEmpty();
  }

  /** Resolves when the calls that are open now have ended. */
  async idle(): Promise<void> {
    const open = new Set(this.#calls.list());
    if (open.size === 0) return;
    await new Promise<void>((resolve) => {
      const waiter: IdleWaiter = {
        ended: (call) => {
          if (!open.delete(call) || open.size > 0) return;
          this.#waiters.delete(waiter);
          resolve();
        },
      };
      this.#waiters.add(waiter);
    });
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
