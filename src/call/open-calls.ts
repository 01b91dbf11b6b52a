import { waitFor } from "../routing/wait-for.js";
import { type Indexed, IndexedSet } from "./indexed-set.js";

/** Why a call was broken off from this side. `upstream_timeout`: its response took longer than it may. */
export type AbortReason = "client_gone" | "shutdown" | "upstream_timeout";

/** A call in progress, as far as closing the gateway goes. */
export interface OpenCall extends Indexed {
  /** Breaks the call off. It then comes to its own end. */
  abort(reason: AbortReason): void;
  /** Settles the call as it is. */
  abandon(): void;
}

/** How long an aborted call may take to come to its own end, in milliseconds. */
export const lastGraceMs = 1000;

/** How long the settlements of abandoned calls may take, in milliseconds. */
const settleGraceMs = 5000;

/** The calls in progress, so that the gateway can close in an orderly way. */
export class OpenCalls {
  readonly #calls = new IndexedSet<OpenCall>();
  /** Calls that are being admitted: their credits may be held already. */
  #expected = 0;
  #isClosing = false;
  #isBreakingOff = false;
  #emptied: (() => void) | undefined;

  get isClosing(): boolean {
    return this.#isClosing;
  }

  /** A call is about to hold credits. */
  expect(): void {
    this.#expected++;
  }

  /** It was added, or is not to be. */
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
    this.#checkEmpty();
  }

  /** Lets calls end by themselves for a while, then breaks them off. Resolves when all are settled. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    await this.#empty(graceMs);
    this.#isBreakingOff = true;
    for (const call of this.#calls.list()) call.abort("shutdown");
    await this.#empty(lastGraceMs);
    // Their clients neither read on nor leave.
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
