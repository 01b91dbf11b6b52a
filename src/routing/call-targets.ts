import { atCapacity, badGateway, type GatewayError, isGatewayError } from "../errors/gateway-error.js";
import { UpstreamStatusError } from "../errors/upstream-status-error.js";
import type { Clock } from "../ledger/clock.js";
import { type AbortNotice, UpstreamError } from "../providers/upstream-provider.js";
import { isRefusal } from "./provider-refusal.js";
import { moreHopeful, remedyOf } from "./retry-policy.js";
import type { Target } from "./target.js";
import type { Route } from "./target-route.js";

const firstBackoffMs = 200;
const longestBackoffMs = 5_000;

/** A call, as far as its way to a target goes. */
export interface RoutedCall {
  readonly notice: AbortNotice;
  /** Where it is at the moment. */
  readonly target: Target | undefined;
  enter(target: Target): void;
}

export interface TargetCalls<Answer> {
  readonly route: Route;
  readonly call: RoutedCall;
  /** Aborted when the client has left, which ends everything at once. */
  readonly client: AbortNotice;
  readonly clock: Clock;
  /**
   * Makes one attempt; resolves when there is something for the client.
   * @throws GatewayError when there is not: another attempt may follow. Anything else ends the request.
   */
  readonly attempt: (target: Target) => Promise<Answer>;
  /** Is told of every attempt that has failed, the last one included. */
  readonly failed: (target: Target, error: GatewayError) => void;
}

/** A target that has failed, and when it may be tried again, in epoch milliseconds. */
interface Worn {
  readonly target: Target;
  readonly readyAt: number;
}

/**
 * Tries a model's targets in their order, and again while attempts and time are left, until one has something for the
 * client. The call is then at that target.
 *
 * @throws GatewayError as the client is to see it, or {@link UpstreamError} `aborted`.
 */
export async function callTargets<Answer>(calls: TargetCalls<Answer>): Promise<Answer> {
  const { route, call, clock, attempt, failed } = calls;
  const notices = [call.notice, calls.client];
  const candidates = [...route.order()];
  const worn: Worn[] = [];
  const rounds = new Map<Target, number>();
  let budgetMs = route.retryBudgetMs;
  let error: GatewayError | undefined;

  /** Goes to the first candidate that can take the call now. */
  const enter = (): boolean => {
    // The request may have ended while it was in a queue.
    if (isGone(notices)) return false;
    const now = clock.now();
    const place = candidates.findIndex(({ monitor }) => monitor.availableAt <= now && !monitor.isFull);
    const [target] = place < 0 ? [] : candidates.splice(place, 1);
    if (target === undefined) return false;
    call.enter(target);
    return true;
  };

  /** One is full, but well. */
  const hasHope = (): boolean => {
    const now = clock.now();
    return candidates.some(({ monitor }) => monitor.availableAt <= now);
  };

  const secure = async (): Promise<void> => {
    while (!enter()) {
      const now = clock.now();
      if (hasHope()) {
        if (await route.queue({ take: enter, hasHope }, notices)) return;
        if (isGone(notices)) throw gone();
        // Another one may have rested enough meanwhile.
        if (enter()) return;
        if (!hasHope()) continue;
        throw moreHopeful(error, atCapacity({ "retry-after": "1" }));
      }
      const next = soonest(candidates, worn, now);
      const waitMs = next === undefined ? 0 : Math.max(0, next.readyAt - now);
      if (next === undefined || waitMs > budgetMs) throw error ?? allUnavailable(route.targets, now);
      budgetMs -= waitMs;
      await route.pause(waitMs, notices);
      if (isGone(notices)) throw gone();
      if (worn.includes(next)) {
        worn.splice(worn.indexOf(next), 1);
        candidates.push(next.target);
      }
    }
  };

  for (let made = 1; ; made++) {
    await secure();
    const { target } = call;
    if (target === undefined) throw gone();
    try {
      return await attempt(target);
    } catch (thrown) {
      if (!isGatewayError(thrown)) throw thrown;
      const asked = askedToRestMs(thrown);
      if (asked !== undefined) target.monitor.rest(asked, clock.now());
      failed(target, thrown);
      const remedy = remedyOf(thrown);
      error = remedy === "none" ? thrown : moreHopeful(error, thrown);
      if (remedy === "none" || made >= route.maxAttempts || isGone(notices)) throw error;
      if (remedy === "again") {
        const round = (rounds.get(target) ?? 0) + 1;
        rounds.set(target, round);
        worn.push({ target, readyAt: readyAt(target, round, clock.now(), route.random) });
      }
    }
  }
}

function isGone(notices: readonly AbortNotice[]): boolean {
  return notices.some(({ aborted }) => aborted);
}

function gone(): UpstreamError {
  return new UpstreamError("aborted", "The client left before the call was made.");
}

/** How long the upstream wants to be left alone. A refusal of the host's own provider is none of the upstream's. */
function askedToRestMs(error: GatewayError): number | undefined {
  const { cause } = error;
  if (isRefusal(error) || !(cause instanceof UpstreamStatusError)) return undefined;
  return cause.status >= 429 ? cause.retryAfterMs : undefined;
}

/** After a back-off that doubles, half of it chance, and not before the upstream's own word. */
function readyAt({ monitor }: Target, round: number, now: number, random: () => number): number {
  const backoffMs = Math.min(firstBackoffMs * 2 ** (round - 1), longestBackoffMs) * (0.5 + random() / 2);
  const restsUntil = monitor.restsUntil > now ? monitor.restsUntil + random() * firstBackoffMs : 0;
  return Math.ceil(Math.max(now + backoffMs, restsUntil));
}

/** Whom it is worth to wait for: one that rests, or that has failed for this request. An open breaker is not waited for. */
function soonest(candidates: readonly Target[], worn: readonly Worn[], now: number): Worn | undefined {
  const resting = candidates.map((target) => ({ target, readyAt: target.monitor.restsUntil }));
  return [...resting, ...worn]
    .filter(({ target }) => (target.monitor.breaker?.availableAt ?? 0) <= now)
    .sort((one, other) => one.readyAt - other.readyAt)[0];
}

/** No target can be called at the moment, and none was. */
function allUnavailable(targets: readonly Target[], now: number): GatewayError {
  const seconds = (Math.min(...targets.map(({ monitor }) => monitor.availableAt)) - now) / 1000;
  const headers = { "retry-after": Number.isFinite(seconds) ? String(Math.max(1, Math.ceil(seconds))) : "1" };
  if (targets.some(({ monitor }) => monitor.restsUntil > now)) return atCapacity(headers);
  return badGateway("The model is not available at the moment. Try again shortly.", {
    headers,
    cause: new Error("Every target of the model has failed too often: they are left alone for a while."),
  });
}
