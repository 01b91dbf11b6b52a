import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { AbortNotifier } from "../../../src/call/abort-notifier.js";
import {
  atCapacity,
  badGateway,
  GatewayError,
  isGatewayError,
  upstreamTimeout,
} from "../../../src/errors/gateway-error.js";
import { UpstreamStatusError } from "../../../src/errors/upstream-fault.js";
import { UpstreamError } from "../../../src/providers/upstream-provider.js";
import { Breaker } from "../../../src/routing/breaker.js";
import { drawOrder, type Target } from "../../../src/routing/target.js";
import { TargetRoute, type TargetRouteOptions } from "../../../src/routing/target-route.js";
import { TargetSearch } from "../../../src/routing/target-search.js";
import { makeTarget } from "./fixtures/make-target.js";

const down = () => badGateway("down", { cause: new UpstreamError("unreachable", "refused") });
const answeredWith = (status: number, retryAfterMs?: number) => {
  const cause = new UpstreamStatusError(status, "", { retryAfterMs });
  return status === 429 ? atCapacity({ "retry-after": "1" }, cause) : badGateway(String(status), { cause });
};
const refused = () => new GatewayError("no", { status: 400, code: "upstream_rejected" });
const ourKey = () =>
  badGateway("key", { headers: { "x-should-retry": "false" }, cause: new UpstreamStatusError(401, "") });
const ourQuota = (status = 429) =>
  badGateway("quota", { headers: { "x-should-retry": "false" }, cause: new UpstreamStatusError(status, "") });
const notAnAnswer = () => badGateway("garbage", { cause: new Error("garbage") });

/** A route whose time stands still but for its own waits, with what was tried and how long was waited. */
function makeRun(targets: Target[], options: Partial<TargetRouteOptions> = {}) {
  let now = 1_000_000;
  const clock = { now: () => now };
  const waits: number[] = [];
  const tried: string[] = [];
  const client = new AbortNotifier();
  const route = new TargetRoute({
    groups: targets.map((target) => ({ targets: [target], weights: [1] })),
    maxAttempts: targets.length,
    retryBudgetMs: 10_000,
    maxQueued: 0,
    queueTimeoutMs: 1000,
    chargeFailedAttempts: false,
    isPlain: false,
    random: () => 0,
    pause: async (ms) => {
      waits.push(ms);
      now += ms;
    },
    ...options,
  });
  const search = async (outcomes: Record<string, (GatewayError | "ok")[]>) => {
    const targetSearch = new TargetSearch(route, [client], clock);
    for (;;) {
      const visit = targetSearch.take() ?? (await targetSearch.wait());
      const { providerName } = visit.target;
      tried.push(providerName);
      // An attempt takes its time.
      await Promise.resolve();
      const outcome = outcomes[providerName]?.shift() ?? "ok";
      visit.leave(outcome === "ok" ? "answered" : "failed", clock);
      if (outcome === "ok") return providerName;
      targetSearch.failed(visit.target, outcome);
    }
  };
  const run = (outcomes: Parameters<typeof search>[0]) =>
    search(outcomes).catch((error: unknown) =>
      isGatewayError(error) ? `${error.status} ${error.message}` : String(error),
    );
  return { run, route, client, waits, tried, clock, pass: (ms: number) => (now += ms) };
}

describe("calling targets", () => {
  it("goes to the next one at once when one fails", async () => {
    const { run, waits, tried } = makeRun([makeTarget("a"), makeTarget("b"), makeTarget("c")]);
    expect(await run({ a: [down()], b: [answeredWith(500)] })).toBe("c");
    expect([tried, waits]).toEqual([["a", "b", "c"], []]);
  });

  it("ends with the client's own mistakes", async () => {
    const { run, tried } = makeRun([makeTarget("a"), makeTarget("b")], { maxAttempts: 5 });
    expect(await run({ a: [refused()] })).toBe("400 no");
    expect(tried).toEqual(["a"]);
  });

  it("tries again after a back-off that doubles, up to the most attempts", async () => {
    const { run, waits, tried } = makeRun([makeTarget("a")], { maxAttempts: 4 });
    expect(await run({ a: [down(), down(), down(), down(), "ok"] })).toBe("502 down");
    expect([tried, waits]).toEqual([
      ["a", "a", "a", "a"],
      [100, 200, 400],
    ]);
  });

  it("varies the back-off by chance, by half of it at most", async () => {
    const { run, waits } = makeRun([makeTarget("a")], { maxAttempts: 3, random: () => 0.999_999 });
    await run({ a: [down(), down(), "ok"] });
    expect(waits).toEqual([200, 400]);
  });

  it("does not repeat what would fail the same way, but tries elsewhere", async () => {
    for (const error of [
      ourKey,
      ourQuota,
      () => ourQuota(500),
      notAnAnswer,
      () => answeredWith(404),
      () => answeredWith(307),
    ]) {
      const alone = makeRun([makeTarget("a")], { maxAttempts: 3 });
      expect(await alone.run({ a: [error()] })).toMatch(/^502/);
      expect(alone.tried).toEqual(["a"]);
      const two = makeRun([makeTarget("a"), makeTarget("b")], { maxAttempts: 5 });
      expect(await two.run({ a: [error()], b: [down()] })).toBe("b");
      expect(two.tried).toEqual(["a", "b", "b"]);
    }
  });

  it("repeats what may pass", async () => {
    for (const error of [down(), answeredWith(500), answeredWith(503), answeredWith(429), upstreamTimeout()]) {
      const { run, tried } = makeRun([makeTarget("a")], { maxAttempts: 2 });
      expect(await run({ a: [error] })).toBe("a");
      expect(tried).toEqual(["a", "a"]);
    }
  });

  it("waits for as long as the upstream asks", async () => {
    const { run, waits } = makeRun([makeTarget("a")], { maxAttempts: 2 });
    expect(await run({ a: [answeredWith(429, 3_000)] })).toBe("a");
    expect(waits).toEqual([3_000]);
  });

  it("does not wait for longer than its budget, all waits together", async () => {
    const { run, waits, tried } = makeRun([makeTarget("a")], { maxAttempts: 5 });
    expect(await run({ a: [answeredWith(429, 6_000), answeredWith(429, 6_000), "ok"] })).toMatch(/^429/);
    expect([tried.length, waits]).toEqual([2, [6_000]]);
  });

  it("does not wait at all for an absurd time, and lets the target rest for a minute at most", async () => {
    const { run, waits, tried, route, pass } = makeRun([makeTarget("a")], { maxAttempts: 5 });
    expect(await run({ a: [answeredWith(429, 1e12)] })).toMatch(/^429/);
    expect(await run({})).toMatch(/^429/);
    expect([tried, waits]).toEqual([["a"], []]);
    expect(route.targets[0]?.monitor.describe(1_000_000)).toMatchObject({ state: "resting", availableAt: 1_060_000 });
    pass(60_000);
    expect(await run({})).toBe("a");
  });

  it("leaves a target that rests alone while there is another one", async () => {
    const { run, tried, waits } = makeRun([makeTarget("a"), makeTarget("b")]);
    await run({ a: [answeredWith(503, 2_000)] });
    await run({});
    expect([tried, waits]).toEqual([["a", "b", "b"], []]);
  });

  it("comes back to the first target when the others fail, too", async () => {
    const { run, tried } = makeRun([makeTarget("a"), makeTarget("b")], { maxAttempts: 4 });
    expect(await run({ a: [down()], b: [down()] })).toBe("a");
    expect(tried).toEqual(["a", "b", "a"]);
  });

  it("tells of the failure that a client can mend", async () => {
    const { run } = makeRun([makeTarget("a"), makeTarget("b")]);
    expect(await run({ a: [down()], b: [ourKey()] })).toBe("502 down");
    expect(await run({ a: [ourKey()], b: [down()] })).toBe("502 down");
    expect(await run({ a: [answeredWith(500)], b: [down()] })).toBe("502 down");
  });

  it("keeps away from a target whose breaker is open, and tries it again when it is time", async () => {
    const a = makeTarget("a", { breaker: new Breaker({ consecutiveFailures: 2, openMs: 1000 }) });
    const { run, tried, pass, clock } = makeRun([a, makeTarget("b", { breaker: new Breaker() })]);
    for (let call = 0; call < 4; call++) await run({ a: [down()] });
    expect(tried).toEqual(["a", "b", "a", "b", "b", "b"]);
    expect(a.monitor.describe(clock.now())).toMatchObject({ state: "open", failed: 2, consecutiveFailures: 2 });
    pass(1000);
    expect(a.monitor.describe(clock.now()).state).toBe("half_open");
    expect(await run({})).toBe("a");
    expect(a.monitor.describe(clock.now())).toMatchObject({ state: "closed", consecutiveFailures: 0 });
  });

  it("goes past a target that is full, and refuses when all are", async () => {
    const [a, b] = [makeTarget("a", { maxConcurrent: 1 }), makeTarget("b", { maxConcurrent: 1 })];
    const { run, clock } = makeRun([a, b]);
    a.monitor.enter(0);
    expect(await run({})).toBe("b");
    b.monitor.enter(0);
    expect(await run({})).toMatch(/^429/);
    a.monitor.leave("answered", false, clock);
    expect(await run({})).toBe("a");
  });

  it("goes to a target that has rested enough while the call was in the queue", async () => {
    const [full, resting] = [makeTarget("full", { maxConcurrent: 1 }), makeTarget("resting")];
    const { run, waits, tried, clock } = makeRun([full, resting], { maxQueued: 1 });
    full.monitor.enter(0);
    resting.monitor.rest(500, clock.now());
    expect(await run({})).toBe("resting");
    expect([tried, waits]).toEqual([["resting"], [1000]]);
  });

  it("makes no attempt for a client that has left, and no further one", async () => {
    const { run, tried, client } = makeRun([makeTarget("a"), makeTarget("b")]);
    const failure = down();
    const going = run({ a: [failure] });
    client.abort();
    expect(await going).toBe("502 down");
    expect(await run({})).toMatch(/aborted|left/);
    expect(tried).toEqual(["a"]);
  });

  it("never makes more attempts or waits longer than it may, and leaves no place taken", async () => {
    const outcome = fc.oneof(
      fc.constant<"ok">("ok"),
      fc.constantFrom(down, ourKey, notAnAnswer, refused, upstreamTimeout).map((make) => make()),
      fc
        .tuple(fc.constantFrom(429, 500, 503), fc.option(fc.integer({ min: 0, max: 20_000 }), { nil: undefined }))
        .map(([status, after]) => answeredWith(status, after)),
    );
    const list = fc.array(outcome, { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 8 }),
        fc.integer({ min: 0, max: 20_000 }),
        fc.array(fc.record({ a: list, b: list, c: list }), { maxLength: 5 }),
        fc.double({ min: 0, max: 0.999, noNaN: true }),
        async (maxAttempts, retryBudgetMs, calls, random) => {
          const targets = ["a", "b", "c"].map((name) =>
            makeTarget(name, { maxConcurrent: 1, breaker: new Breaker({ consecutiveFailures: 3, openMs: 500 }) }),
          );
          const { run, route, tried, waits } = makeRun(targets, { maxAttempts, retryBudgetMs, random: () => random });
          for (const outcomes of calls) {
            tried.length = 0;
            waits.length = 0;
            await run(outcomes);
            expect(tried.length).toBeLessThanOrEqual(maxAttempts);
            expect(waits.reduce((sum, ms) => sum + ms, 0)).toBeLessThanOrEqual(retryBudgetMs);
            for (const { monitor } of route.targets) expect(monitor.describe(0).active).toBe(0);
          }
        },
      ),
    );
  });
});

describe("the order of targets", () => {
  it("shares the calls of a group by weight, and keeps the groups apart", () => {
    const [a, b, c] = [makeTarget("a"), makeTarget("b"), makeTarget("c")];
    const groups = [
      { targets: [a, b], weights: [3, 1] },
      { targets: [c], weights: [1] },
    ];
    let seed = 1;
    const random = () => {
      seed = (seed * 48_271) % 2_147_483_647;
      return seed / 2_147_483_647;
    };
    const first = new Map<string, number>();
    for (let draw = 0; draw < 4000; draw++) {
      const order = drawOrder(groups, random).map(({ providerName }) => providerName);
      expect(order[2]).toBe("c");
      expect(order.toSorted()).toEqual(["a", "b", "c"]);
      first.set(order[0] ?? "", (first.get(order[0] ?? "") ?? 0) + 1);
    }
    expect((first.get("a") ?? 0) / 4000).toBeCloseTo(0.75, 1);
  });
});
