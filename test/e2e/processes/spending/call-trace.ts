import type { SpendingStep, TracedLease } from "./spending-step.js";

/** All that is known of a call, from the trace of its process. */
export interface CallTrace {
  account: string;
  amount: number;
  isDenied: boolean;
  lease: TracedLease | undefined;
  /** When its reservation was first answered. */
  reservedAt: number;
  /** The latest cost that a renewal has sent, and that the store has confirmed. */
  renewing: number;
  renewed: number;
  /** When the latest renewal was sent. */
  renewingAt: number;
  /** The lease lasts at least so long, if nothing ends it. */
  lastsUntil: number;
  /** When its end was first sent, and what it costs. */
  endingAt: number;
  settling: number | undefined;
  isSettled: boolean;
  /** Whether its lease had expired, so that its end changed no bucket. */
  isLate: boolean;
  uses: Readonly<Record<string, number>>;
}

export interface TopUpTrace {
  account: string;
  micro: number;
  expiresAt: number | undefined;
  isDone: boolean;
}

export interface Trace {
  calls: Map<string, CallTrace>;
  topUps: Map<string, TopUpTrace>;
  overspent: string[];
  /** What has denied calls. */
  denials: Set<string>;
}

/** Puts the steps of all processes together. */
export function traceSteps(steps: readonly SpendingStep[]): Trace {
  const trace: Trace = { calls: new Map(), topUps: new Map(), overspent: [], denials: new Set() };
  for (const step of steps) addStep(trace, step);
  return trace;
}

function addStep({ calls, topUps, overspent, denials }: Trace, step: SpendingStep): void {
  if (step.step === "overspent") {
    overspent.push(`${step.id}: ${step.limit}`);
    return;
  }
  if (step.step === "topping up" || step.step === "topped up") {
    const { id, account, micro, expiresAt } = step;
    topUps.set(id, { account, micro, expiresAt, isDone: step.step === "topped up" });
    return;
  }
  if (step.step === "reserving") {
    if (!calls.has(step.id)) calls.set(step.id, newCall(step.account, step.micro));
    return;
  }
  const call = calls.get(step.id);
  if (call === undefined) throw new Error(`${step.id} was never reserved.`);
  if (step.step === "denied") {
    call.isDenied = true;
    for (const by of step.by) denials.add(by);
  } else addLeaseStep(call, step);
}

function addLeaseStep(call: CallTrace, step: SpendingStep): void {
  switch (step.step) {
    case "reserved":
      // A repetition may come when it has ended, and lack the rest.
      if (call.lease !== undefined) return;
      call.lease = step.lease;
      call.reservedAt = step.at;
      call.lastsUntil = step.lease.expiresAt;
      return;
    case "renewing":
      call.renewing = Math.max(call.renewing, step.micro);
      call.renewingAt = step.at;
      return;
    case "renewed":
      call.renewed = Math.max(call.renewed, step.micro);
      call.lastsUntil = Math.max(call.lastsUntil, call.renewingAt + step.leaseMs);
      return;
    case "ending":
      call.uses = step.uses;
      return;
    case "settling":
      call.settling ??= step.micro;
      call.endingAt = Math.min(call.endingAt, step.at);
      return;
    case "settled":
      if (step.status === "late") call.isLate = true;
      call.isSettled = true;
  }
}

function newCall(account: string, amount: number): CallTrace {
  const at = { reservedAt: 0, renewingAt: 0, lastsUntil: 0, endingAt: Number.POSITIVE_INFINITY };
  const costs = { renewing: 0, renewed: 0, settling: undefined, isSettled: false };
  return { account, amount, isDenied: false, lease: undefined, isLate: false, uses: {}, ...at, ...costs };
}

/** What the call can have been charged, as far as its process knew. */
export function possibleCharges({ renewing, renewed, settling, isSettled }: CallTrace): number[] {
  if (settling !== undefined && isSettled) return [settling];
  return [renewed, renewing, ...(settling === undefined ? [] : [settling])];
}
