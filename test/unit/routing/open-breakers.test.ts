import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AbortNotifier } from "../../../src/call/abort-notifier.js";
import { atCapacity, badGateway, isGatewayError } from "../../../src/errors/gateway-error.js";
import { UpstreamStatusError } from "../../../src/errors/upstream-fault.js";
import { UpstreamError } from "../../../src/providers/upstream-provider.js";
import { Breaker } from "../../../src/routing/breaker.js";
import type { TargetVisit } from "../../../src/routing/target.js";
import { TargetRoute, type TargetRouteOptions } from "../../../src/routing/target-route.js";
import { TargetSearch } from "../../../src/routing/target-search.js";
import { makeTarget } from "./fixtures/make-target.js";

const down = () => badGateway("down", { cause: new UpstreamError("unreachable", "refused") });
const busy = (retryAfterMs: number) =>
  atCapacity({ "retry-after": "1" }, new UpstreamStatusError(429, "", { retryAfterMs }));

/** A model whose calls are made and ended by hand, while time stands still. */
function makeModel(names: readonly string[], options: Partial<TargetRouteOptions> = {}, openMs = 1000) {
  let now = 1_000_000;
  const clock = { now: () => now };
  const targets = names.map((name) => makeTarget(name, { breaker: new Breaker({ consecutiveFailures: 1, openMs }) }));
  const route = new TargetRoute({
    groups: targets.map((target) => ({ targets: [target], weights: [1] })),
    maxAttempts: 1,
    retryBudgetMs: 0,
    maxQueued: 100,
    queueTimeoutMs: 1000,
    chargeFailedAttempts: false,
    isPlain: false,
    random: () => 0,
    // Nobody waits for time: only other calls wake those in the line.
    pause: (_, __, begin) => new Promise((resolve) => (begin === undefined ? resolve() : begin(resolve))),
    ...options,
  });
  const begin = () => {
    const search = new TargetSearch(route, [new AbortNotifier()], clock);
    return { search, visit: search.take(), wait: () => search.wait() };
  };
  /** A call that finds a target at once, or is refused. */
  const call = async () => {
    const { search, visit, wait } = begin();
    return { search, visit: visit ?? (await wait()) };
  };
  const fail = async (error = down()) => {
    const { search, visit } = await call();
    visit.leave("failed", clock);
    try {
      search.failed(visit.target, error);
    } catch {
      return visit.target.providerName;
    }
    throw new Error("Another attempt would follow.");
  };
  const succeed = async () => {
    const { visit } = await call();
    visit.leave("answered", clock);
    return visit.target.providerName;
  };
  return { targets, route, clock, begin, call, fail, succeed, pass: (ms: number) => (now += ms) };
}

const nameOf = (visit: TargetVisit) => visit.target.providerName;

describe("a model whose breakers are all open", () => {
  it("tries the target that has waited the longest, at once", async () => {
    const { fail, succeed, pass, targets, clock } = makeModel(["a", "b", "c"]);
    for (const name of ["a", "b", "c", "a", "b", "c", "a"]) {
      expect(await fail()).toBe(name);
      pass(1);
    }
    expect(targets.map(({ monitor }) => monitor.describe(clock.now()).state)).toEqual(["open", "open", "open"]);
    expect(await succeed()).toBe("b");
    // It is well: the others are left alone until their time has come.
    expect([await succeed(), await succeed()]).toEqual(["b", "b"]);
  });

  it("serves at once when its only target is well again, however long it failed", async () => {
    const { fail, succeed, pass } = makeModel(["a"]);
    for (let minute = 0; minute < 10; minute++) {
      await fail();
      pass(60_000);
    }
    await fail();
    expect(await succeed()).toBe("a");
  });

  it("does not wait twice as long for a try before its time", async () => {
    const { fail, targets, clock } = makeModel(["a"]);
    for (let call = 0; call < 20; call++) await fail();
    expect(targets[0]?.monitor.describe(clock.now())).toMatchObject({ availableAt: clock.now() + 1000 });
  });

  it("lets one call at a time try a target; the others wait for its end, and all go on when it is well", async () => {
    const { fail, call, begin, targets, clock, route } = makeModel(["a", "b"]);
    await fail();
    await fail();
    const [first, second] = [await call(), await call()];
    expect([nameOf(first.visit), nameOf(second.visit)]).toEqual(["a", "b"]);
    const waiting = Array.from({ length: 5 }, () => begin().wait());
    await Promise.resolve();
    expect(route.line.length).toBe(5);
    expect(targets.map(({ monitor }) => monitor.load.active)).toEqual([1, 1]);
    // What fails lets the next one try; what shows that it is well lets all go on.
    first.visit.leave("failed", clock);
    expect(nameOf(await (waiting[0] as Promise<TargetVisit>))).toBe("a");
    expect([route.line.length, ...targets.map(({ monitor }) => monitor.load.active)]).toEqual([4, 1, 1]);
    second.visit.confirm();
    const rest = await Promise.all(waiting.slice(1));
    expect(rest.map(nameOf)).toEqual(["b", "b", "b", "b"]);
  });

  it("refuses those who wait for too long, or are too many, and says when a call is tried again", async () => {
    const { fail, call, begin } = makeModel(["a"], { maxQueued: 0 });
    await fail();
    await call();
    const refusal = await begin()
      .wait()
      .catch((error: unknown) => error);
    expect(refusal).toMatchObject({ status: 502, headers: { "retry-after": "1" } });
  });

  it("honours the pause that an upstream asked for, and tells how long it lasts", async () => {
    const { fail, succeed, begin, pass } = makeModel(["a"]);
    expect(await fail(busy(7_500))).toBe("a");
    const refusal = await begin()
      .wait()
      .catch((error: unknown) => (isGatewayError(error) ? error.headers["retry-after"] : error));
    expect(refusal).toBe("8");
    pass(7_500);
    expect(await succeed()).toBe("a");
  });

  it("tries an open one rather than wait for the long pause of another", async () => {
    const { fail, succeed, targets, clock } = makeModel(["a", "b"]);
    expect(await fail()).toBe("a");
    expect(await fail(busy(30_000))).toBe("b");
    targets[1]?.monitor.breaker?.close();
    expect(targets[1]?.monitor.describe(clock.now()).state).toBe("resting");
    expect(await succeed()).toBe("a");
  });

  it("leaves an open one alone while another target can be called", async () => {
    const { fail, succeed } = makeModel(["a", "b"]);
    expect(await fail()).toBe("a");
    expect([await succeed(), await succeed(), await succeed()]).toEqual(["b", "b", "b"]);
  });

  it("never refuses a call while nothing is in progress, nor tries one target twice at once", async () => {
    const step = fc.oneof(
      fc.record({ kind: fc.constant("begin" as const) }),
      fc.record({
        kind: fc.constant("end" as const),
        place: fc.nat(20),
        verdict: fc.constantFrom("answered" as const, "failed" as const, "unknown" as const),
      }),
      fc.record({ kind: fc.constant("pass" as const), ms: fc.integer({ min: 0, max: 3000 }) }),
    );
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: 1, max: 3 }), fc.array(step, { maxLength: 80 }), async (count, steps) => {
        const { begin, targets, clock, pass, route } = makeModel(["a", "b", "c"].slice(0, count));
        const going: TargetVisit[] = [];
        let waiting = 0;
        const stateOf = (index: number) => targets[index]?.monitor.describe(clock.now()).state;
        const probes = new Set<TargetVisit>();
        const began = (visit: TargetVisit) => {
          going.push(visit);
          if (visit.target.monitor.breaker?.isTried) probes.add(visit);
          return visit;
        };
        for (const each of steps) {
          if (each.kind === "pass") pass(each.ms);
          if (each.kind === "end")
            going.splice(each.place % Math.max(1, going.length), 1)[0]?.leave(each.verdict, clock);
          if (each.kind === "begin") {
            const closed = targets.filter(({ monitor }) => monitor.availableAt <= clock.now());
            const open = targets.flatMap(({ monitor }) => monitor.waitsSince(clock.now()) ?? []);
            const { visit, wait } = begin();
            if (visit === undefined) {
              waiting++;
              const found = wait().then(began);
              await new Promise(setImmediate);
              if (open.length > 0) {
                expect(probes.has(await found)).toBe(true);
              } else expect(targets.every(({ monitor }) => monitor.load.active > 0)).toBe(true);
            } else {
              began(visit);
              expect(closed).toContain(visit.target);
            }
          }
          await new Promise(setImmediate);
          for (const [index, { monitor }] of targets.entries()) {
            const tries = going.filter((visit) => visit.target === targets[index] && probes.has(visit));
            expect(tries.length).toBeLessThanOrEqual(1);
            if (stateOf(index) === "open") expect(monitor.breaker?.isTried).toBe(false);
          }
          // Whoever waits has something to wait for.
          if (route.line.length > 0) expect(targets.some(({ monitor }) => monitor.breaker?.isTried)).toBe(true);
        }
        expect(waiting).toBeGreaterThanOrEqual(route.line.length);
      }),
      { numRuns: 200 },
    );
  });
});
