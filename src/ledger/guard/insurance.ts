import type { Micro } from "../../prices/micro.js";
import type { Clock } from "../calendar.js";
import type { Lease, ReserveRequest, ReserveResult, WindowStates } from "../credit-ledger.js";
import { checkReserve } from "../ledger-input.js";
import type { LeasedCap } from "../limits.js";
import { freshCaps, leaseKey } from "../rules/reservation.js";
import {
  type AdmittedWindows,
  admit,
  admittingInstances,
  type Instances,
  noInstances,
  withSession,
} from "../rules/windows.js";
import { unknownStates } from "../window-states.js";

/** Beyond this number, a new account is insured only in place of one that has had no insured call for long. */
const mostAccounts = 10_000;
const longMs = 3_600_000;

/** What an account may use until the ledger responds to a reservation of it again. */
interface Policy {
  readonly instances: Instances;
  used: Micro;
  held: Micro;
  /** Calls in progress. */
  open: number;
  latestAt: number;
}

interface InsuredCall {
  readonly policy: Policy;
  readonly lease: Lease;
  held: Micro;
}

/**
 * Admits calls while the ledger does not respond, up to a certain sum for each account. As elsewhere, the last call may
 * exceed it. Their cost is charged when the ledger is back.
 *
 * The sum is valid until the ledger has responded to a reservation of that very account. A response to another account
 * proves nothing, where only a part of the ledger is away.
 */
export class Insurance {
  /** `null`: no limit. */
  readonly #most: Micro | null;
  readonly #clock: Clock;
  /** By account, in the order of the latest insured call. */
  readonly #policies = new Map<string, Policy>();
  /** By the keys of their leases. */
  readonly #calls = new Map<string, InsuredCall>();

  constructor(most: Micro | null, clock: Clock) {
    this.#most = most;
    this.#clock = clock;
  }

  /** @returns `undefined` when the account's insurance is used up, or there are too many accounts. */
  reserve(request: ReserveRequest): Extract<ReserveResult, { ok: true }> | undefined {
    const now = this.#clock.now();
    const { amountMicro } = request;
    const key = leaseKey(request);
    const earlier = this.#calls.get(key);
    if (earlier !== undefined) {
      return { ok: true, lease: earlier.lease, windows: unknownStates, now, replayed: true };
    }
    const policy = this.#policyFor(request.account, now);
    if (policy === undefined) return undefined;
    if (this.#most !== null && policy.used + policy.held >= this.#most) return undefined;
    const lease = toLease(request, policy.instances, now);
    if (lease === undefined) return undefined;
    policy.held += amountMicro;
    policy.open++;
    policy.latestAt = now;
    // The latest goes to the end, so that the oldest is the first.
    this.#policies.delete(request.account);
    this.#policies.set(request.account, policy);
    this.#calls.set(key, { policy, lease, held: amountMicro });
    return { ok: true, lease, windows: unknownStates, now, replayed: false };
  }

  covers(lease: Lease): boolean {
    return this.#calls.size > 0 && this.#calls.has(leaseKey(lease));
  }

  /** Records the cost of the call so far. */
  renew(lease: Lease, observed: Micro): void {
    const call = this.#calls.get(leaseKey(lease));
    if (call === undefined || observed <= call.held) return;
    call.policy.held += observed - call.held;
    call.held = observed;
  }

  /** Replaces the hold of the call by its cost. */
  settle(lease: Lease, amount: Micro): WindowStates {
    const key = leaseKey(lease);
    const call = this.#calls.get(key);
    if (call !== undefined) {
      this.#calls.delete(key);
      call.policy.held -= call.held;
      call.policy.used += amount;
      call.policy.open--;
    }
    return unknownStates;
  }

  /** The ledger has responded to a reservation of the account. If it stops again, that is another outage. */
  end(account: string): void {
    if (this.#policies.size > 0) this.#policies.delete(account);
  }

  #policyFor(account: string, now: number): Policy | undefined {
    const known = this.#policies.get(account);
    if (known !== undefined) return known;
    if (this.#policies.size >= mostAccounts && !this.#makeRoom(now)) return undefined;
    return { instances: { ...noInstances }, used: 0, held: 0, open: 0, latestAt: now };
  }

  #makeRoom(now: number): boolean {
    for (const [account, policy] of this.#policies) {
      if (now - policy.latestAt < longMs) return false;
      this.#policies.delete(account);
      if (policy.open === 0) return true;
      policy.latestAt = now;
      this.#policies.set(account, policy);
    }
    return false;
  }
}

/** @returns `undefined` for what the ledger would refuse. */
function toLease(request: ReserveRequest, instances: Instances, now: number): Lease | undefined {
  const { id, account, amountMicro, limits, leaseMs } = request;
  let admitted: Instances;
  let caps: readonly LeasedCap[] | undefined;
  try {
    checkReserve(request);
    // They admit every call now, and count its charge later.
    caps = request.caps && freshCaps(request.caps, now);
    admitted = withSession(admittingInstances(instances, limits, now), limits, now);
  } catch {
    return undefined;
  }
  admit(instances, admitted, amountMicro);
  const lease = { id, account, amountMicro, expiresAt: now + leaseMs, ...toAdmission(admitted), limits };
  return caps === undefined ? lease : { ...lease, caps };
}

function toAdmission({ session, week, month }: Instances): AdmittedWindows {
  return {
    starts: { session: session.start, week: week.start, month: month.start },
    ends: { session: session.end, week: week.end, month: month.end },
  };
}
