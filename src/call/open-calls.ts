import type { GatewayError } from "../errors/gateway-error.js";
import type { Clock } from "../ledger/clock.js";
import type { Target } from "../routing/target.js";
import type { Verdict } from "../routing/target-health.js";
import { waitFor } from "../routing/wait-for.js";
import { AbortNotifier } from "./abort-notifier.js";
import { type Listed, Roster } from "./indexed-set.js";
import type { Meter } from "./meter.js";

/** Why a call was broken off from this side. `upstream_timeout`: its answer took longer than it may. */
export type AbortReason = "client_gone" | "shutdown" | "upstream_timeout";

/** A call in progress, and what can end it early. */
export class Call implements Listed {
  place = -1;
  readonly #notifier = new AbortNotifier();
  #reason: AbortReason | undefined;
  #abandoned: ((reason: AbortReason) => unknown) | undefined;
  #limit: ReturnType<typeof setTimeout> | undefined;

  /** Where the call is at the moment. */
  target: Target | undefined;
  /** What its target has done for the call; `undefined` where the call is at none, or none has had it yet. */
  meter: Meter | undefined;
  /** The call tries a target whose breaker is open. */
  isProbe = false;
  /** The failure of which the host has been told already. */
  reported: GatewayError | undefined;

  /** For the upstream. */
  get notice(): AbortNotifier {
    return this.#notifier;
  }

  get abortReason(): AbortReason | undefined {
    return this.#reason;
  }

  /**
   * Its answer may take so long from now on.
   * @param timeUp - may break it off for a reason of its own.
   */
  limit(ms: number, timeUp: () => unknown): void {
    this.#limitIn(ms, () => {
      timeUp();
      this.abort("upstream_timeout");
      // Its client may neither read on nor leave.
      this.#limitIn(lastGraceMs, () => void this.abandon());
    });
  }

  /** It is settled. */
  ended(): void {
    if (this.#limit !== undefined) clearTimeout(this.#limit);
  }

  #limitIn(ms: number, end: () => void): void {
    this.#limit = setTimeout(end, ms);
    // The client's connection keeps the process alive as long as need be.
    if (typeof this.#limit === "object") this.#limit.unref?.();
  }

  enter(target: Target): void {
    this.target = target;
    this.isProbe = target.monitor.enter();
  }

  /** The target works again: known before its answer has ended. */
  confirm(): void {
    this.isProbe = false;
    this.target?.monitor.breaker?.close();
  }

  /** The call is not at its target any more. */
  leaveTarget(verdict: Verdict, clock: Clock): void {
    const { target } = this;
    if (target === undefined) return;
    this.target = undefined;
    target.monitor.leave(verdict, this.isProbe, clock);
  }

  /** @param settle - does the accounts when nobody takes the rest of the answer any more. */
  whenAbandoned(settle: (reason: AbortReason) => unknown): void {
    this.#abandoned = settle;
  }

  /** Ends the call to the upstream. A client that has gone is settled for at once. */
  abort(reason: AbortReason): void {
    if (this.#reason !== undefined) return;
    this.#reason = reason;
    this.#notifier.abort();
    if (reason === "client_gone") void this.abandon();
  }

  /** Settles what has been seen. */
  async abandon(): Promise<void> {
    await this.#abandoned?.(this.#reason ?? "shutdown");
  }
}

/** How long an aborted call may take to come to its own end. */
const lastGraceMs = 1000;

/** How long the accounts of abandoned calls may take. */
const settleGraceMs = 5000;

/** The calls in progress, so that the gateway can close in an orderly way. */
export class InFlight {
  readonly #calls = new Roster<Call>();
  #closing = false;
  #emptied: (() => void) | undefined;

  get closing(): boolean {
    return this.#closing;
  }

  enter(call: Call): void {
    this.#calls.add(call);
  }

  leave(call: Call): void {
    call.ended();
    this.#calls.remove(call);
    if (this.#calls.size === 0) this.#emptied?.();
  }

  /** Lets calls end by themselves for a while, then breaks them off. Resolves when all are settled. */
  async close(graceMs: number): Promise<void> {
    this.#closing = true;
    await this.#empty(graceMs);
    for (const call of this.#calls.list()) call.abort("shutdown");
    await this.#empty(lastGraceMs);
    // Their clients neither read on nor leave.
    for (const call of this.#calls.list()) void call.abandon();
    await this.#empty(settleGraceMs);
  }

  async #empty(withinMs: number): Promise<void> {
    if (this.#calls.size === 0) return;
    await waitFor(withinMs, [], (wake) => {
      this.#emptied = wake;
    });
  }
}
