import { AsyncLocalStorage } from "node:async_hooks";
import * as z from "zod";
import { checkInput } from "../check/check-input.js";
import { tagsInput } from "../check/text-schemas.js";
import type { GuardOutcome } from "../events/request-observer.js";
import type { Warn } from "../events/warning.js";
import { TimeLimit } from "../ledger/guard/time-limit.js";
import { meantDimension, type Tags } from "../prices/tags.js";
import type { AbortNotice } from "../providers/upstream-provider.js";
import { isPromiseLike, returnedAtOnce } from "../runtime/host-code.js";
import type { GuardedCall, GuardedResponse, ResolvedGuard } from "./response-guard.js";

/** The host's guards of one gateway. */
export class ResponseGuards {
  readonly #guards: readonly LimitedGuard[];
  readonly #warn: Warn;
  /** The guards in whose code the current call is made. */
  readonly #running = new AsyncLocalStorage<ReadonlySet<ResolvedGuard>>();

  /** @param isolate - see {@link TimeLimit}. */
  constructor(guards: readonly ResolvedGuard[], warn: Warn, isolate: boolean) {
    this.#guards = guards.map((guard) => ({ guard, limit: new TimeLimit(guard.timeoutMs, guard.timeoutMs, isolate) }));
    this.#warn = warn;
  }

  /**
   * The guards for a call. A call that a guard itself makes is not checked by that guard, or it would never end.
   * @returns `undefined` when there is none.
   */
  select(call: GuardedCall): GuardRound | undefined {
    const outer = this.#running.getStore();
    const selected = this.#guards.filter(({ guard }) => outer?.has(guard) !== true && this.#isFor(guard, call));
    if (selected.length === 0) return undefined;
    // Answers end in callbacks of the upstream's connection. The host's code runs where its request came in.
    const inContext = AsyncLocalStorage.snapshot();
    return new GuardRound(selected, call, {
      run: (guard, work) => inContext(() => this.#running.run(new Set([...(outer ?? []), guard]), work)),
      warn: this.#warn,
    });
  }

  #isFor({ name, when }: ResolvedGuard, call: GuardedCall): boolean {
    if (when === undefined) return true;
    const failed = (cause: unknown): void => {
      const message = `"when" of the guard "${name}" failed. The guard checks the answer.`;
      this.#warn({ code: "hook_failed", message, cause, requestId: call.requestId });
    };
    try {
      const isFor: unknown = when(call);
      if (!isPromiseLike(isFor)) return Boolean(isFor);
      returnedAtOnce(`"when" of the guard "${name}"`, isFor, failed);
      return true;
    } catch (cause) {
      failed(cause);
      return true;
    }
  }
}

/** A guard, and how long it may take. */
interface LimitedGuard {
  readonly guard: ResolvedGuard;
  readonly limit: TimeLimit;
}

/** What guards see of an answer, besides whose it is. */
export type ResponseContent = Pick<GuardedResponse, "texts" | "finishReasons" | "usage">;

/** The results of the guards for one answer. */
export interface GuardReview {
  readonly outcomes: readonly GuardOutcome[];
  /** How long all of them took together, in milliseconds. */
  readonly ms: number;
  /** What the call is filed under now, besides its own. */
  readonly tags: Tags | undefined;
  /** What the client gets in place of the answer; `undefined`: the answer is not refused. */
  readonly refusal: string | undefined;
  /** The answer was not checked by a guard without which it must not go out. */
  readonly isUnchecked: boolean;
}

/** What a round of guards works with. */
interface GuardRoundServices {
  /** Runs a guard's code in the context of its request. */
  run<Result>(guard: ResolvedGuard, work: () => Result): Result;
  readonly warn: Warn;
}

interface Checked {
  readonly guard: ResolvedGuard;
  /** `undefined`: it has failed. */
  readonly verdict: CheckedVerdict | undefined;
  readonly durationMs: number;
}

/** The guards that check the answer of one call. */
export class GuardRound {
  readonly #guards: readonly LimitedGuard[];
  readonly #call: GuardedCall;
  readonly #services: GuardRoundServices;

  constructor(guards: readonly LimitedGuard[], call: GuardedCall, services: GuardRoundServices) {
    this.#guards = guards;
    this.#call = call;
    this.#services = services;
  }

  /** Whether the client gets nothing of the answer before the verdict. */
  get holds(): boolean {
    return this.#guards.some(({ guard }) => this.#isBinding(guard));
  }

  /** Whether an answer that cannot be checked must not go out. */
  get refusesUnchecked(): boolean {
    return this.#guards.some(({ guard }) => this.#isBinding(guard) && guard.onError === "refuse");
  }

  /**
   * Runs all guards at once, and waits for all of them.
   * @param read - gives the answer. Where it throws, every guard has failed.
   * @param notice - aborted when the call is broken off: then no guard is waited for.
   */
  async review(read: () => ResponseContent, notice: AbortNotice): Promise<GuardReview> {
    const startedAt = performance.now();
    let content: ResponseContent;
    try {
      content = read();
    } catch (cause) {
      return this.fail(cause);
    }
    const departure = whenAborted(notice);
    const checks = await Promise.all(this.#guards.map((limited) => this.#check(limited, content, departure.left)));
    departure.ignore();
    return this.#toReview(checks, performance.now() - startedAt);
  }

  /** The review of an answer that no guard can be given. */
  fail(cause: unknown): GuardReview {
    const checks = this.#guards.map(({ guard }) => ({ guard, verdict: undefined, durationMs: 0 }));
    for (const { guard } of checks) this.#warnOf(guard, cause);
    return this.#toReview(checks, 0);
  }

  /** Never rejects, also not later: what a guard does after its time is ignored. */
  async #check({ guard, limit }: LimitedGuard, content: ResponseContent, left: Promise<never>): Promise<Checked> {
    const startedAt = performance.now();
    const controller = new AbortController();
    try {
      const answer = { ...this.#call, ...content, signal: controller.signal };
      const { run } = this.#services;
      const result = run(guard, () => new Promise<unknown>((resolve) => resolve(guard.answer(answer))));
      const verdict = checkVerdict(`The guard "${guard.name}"`, await limit.race(Promise.race([result, left])));
      return { guard, verdict, durationMs: performance.now() - startedAt };
    } catch (cause) {
      // The host's listeners run in its own context, too.
      this.#services.run(guard, () => controller.abort());
      if (!isLeft(cause)) this.#warnOf(guard, cause);
      return { guard, verdict: undefined, durationMs: performance.now() - startedAt };
    }
  }

  #warnOf({ name }: ResolvedGuard, cause: unknown): void {
    const message = `The guard "${name}" failed to check an answer.`;
    this.#services.warn({ code: "hook_failed", message, cause, requestId: this.#call.requestId });
  }

  #isBinding({ stream }: ResolvedGuard): boolean {
    return !this.#call.stream || stream === "hold";
  }

  #toReview(checks: readonly Checked[], ms: number): GuardReview {
    const refusals = checks.flatMap(({ guard, verdict }) => (verdict?.kind === "refused" ? [{ guard, verdict }] : []));
    const binding = refusals.find(({ guard }) => this.#isBinding(guard));
    const refusing = binding ?? refusals[0];
    const tags: Record<string, string> = {};
    for (const { verdict } of checks) if (verdict?.kind === "passed") Object.assign(tags, verdict.tags);
    if (refusing !== undefined) tags[guardTag] = refusing.guard.name;
    return {
      outcomes: checks.map(toOutcome),
      ms,
      tags: Object.keys(tags).length === 0 ? undefined : tags,
      refusal: binding?.verdict.words,
      isUnchecked: checks.some(
        ({ guard, verdict }) => verdict === undefined && this.#isBinding(guard) && guard.onError === "refuse",
      ),
    };
  }
}

function toOutcome({ guard: { name }, verdict, durationMs }: Checked): GuardOutcome {
  if (verdict?.kind !== "refused") return { name, verdict: verdict?.kind ?? "failed", durationMs };
  const { code } = verdict;
  return { name, verdict: "refused", ...(code === undefined ? undefined : { code }), durationMs };
}

/** The call was broken off while a guard was at it. */
class CallLeftError extends Error {
  override readonly name = "CallLeftError";
}

function isLeft(cause: unknown): boolean {
  return cause instanceof CallLeftError;
}

/** @returns a promise that rejects when the call is broken off. */
function whenAborted(notice: AbortNotice): { left: Promise<never>; ignore: () => void } {
  let leave = (): void => {};
  const left = new Promise<never>((_, reject) => {
    leave = () => reject(new CallLeftError("The call was broken off."));
  });
  // It may be aborted when no guard is waited for any more.
  left.catch(() => {});
  if (notice.aborted) leave();
  else notice.addEventListener("abort", leave);
  return { left, ignore: () => notice.removeEventListener("abort", leave) };
}

/** The tag that names the guard that has refused an answer. */
const guardTag = "guard";

/** What a guard has returned, checked. */
type CheckedVerdict =
  | { readonly kind: "passed"; readonly tags: Tags | undefined }
  | { readonly kind: "refused"; readonly words: string; readonly code: string | undefined };

const refusal = z.strictObject({
  refuse: z.string().min(1),
  code: z
    .string()
    .regex(/^[A-Za-z0-9_.-]{1,64}$/, "must have at most 64 letters, digits, _, . and -")
    .optional(),
});

const passing = z.strictObject({ tags: tagsInput((name) => (name === guardTag ? guardTag : meantDimension(name))) });

/**
 * Checks what a guard has returned.
 * @throws TypeError that lists what to fix.
 */
function checkVerdict(by: string, returned: unknown): CheckedVerdict {
  if (returned === undefined) return { kind: "passed", tags: undefined };
  const isRefusal = typeof returned === "object" && returned !== null && "refuse" in returned;
  if (!isRefusal) return { kind: "passed", tags: checkInput(by, passing, returned).tags };
  const { refuse, code } = checkInput(by, refusal, returned);
  return { kind: "refused", words: refuse, code };
}
