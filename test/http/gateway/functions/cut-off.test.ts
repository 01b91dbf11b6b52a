import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { KeyUses } from "../../../../src/access/key-uses.js";
import { TimeLimit } from "../../../../src/ledger/guard/time-limit.js";
import type { RequestLog } from "../../../../src/request-log/request-log.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import { getRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

beforeEach(() => {
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "performance"] });
});
afterEach(async () => {
  vi.restoreAllMocks();
  vi.useRealTimers();
  await Promise.all(started.splice(0).map((test) => test.close()));
});

const started: TestGateway[] = [];

async function start(options: Parameters<typeof startTestGateway>[0] = {}): Promise<TestGateway> {
  const test = await startTestGateway(options);
  started.push(test);
  return test;
}

const endless = () => new Promise<void>(() => {});

describe("a write of the request log that an isolate has cut off with its request", () => {
  it("takes the room of others for a minute, and not for ever", async () => {
    const kept = memoryRequestLog();
    let isCutOff = true;
    const write: RequestLog["write"] = (lines) => (isCutOff ? endless() : kept.write(lines));
    const { gateway } = await start({
      requestLog: { store: { ...kept, write }, maxQueuedRows: 2 },
      isolate: true,
    });
    const call = async () => {
      await gateway.handler(getRequest("/v1/models"));
      void gateway.idle(1);
      await vi.advanceTimersByTimeAsync(10);
    };
    await call();
    await call();
    isCutOff = false;
    await vi.advanceTimersByTimeAsync(61_000);
    // It finds what was cut off when it writes its own line.
    await call();
    await call();
    expect((await kept.list()).requests.length).toBeGreaterThanOrEqual(1);
    expect(gateway.health().requestLog?.waiting).toBe(0);
  });

  it("keeps nobody waiting who forgets the account", async () => {
    const { gateway } = await start({
      requestLog: { ...memoryRequestLog(), write: endless },
      isolate: true,
    });
    await gateway.handler(getRequest("/v1/models"));
    void gateway.idle(1);
    await vi.advanceTimersByTimeAsync(10);
    const forgotten = gateway.accounts.forget("acct_pro").then(
      () => "forgotten",
      (error: Error) => error.message,
    );
    await vi.advanceTimersByTimeAsync(3_000);
    const state = await Promise.race([forgotten, Promise.resolve("waits")]);
    expect(state).toContain("request log");
  });
});

it("uses of keys are noted again after a minute where an isolate has dropped the timers of a request", async () => {
  const written: string[] = [];
  const uses = new KeyUses((batch) => void written.push(...batch.map(({ id }) => id)), {
    timeLimit: new TimeLimit(2_000, 2_000, true),
    warn: () => {},
    isolate: true,
  });
  await vi.advanceTimersByTimeAsync(1_000);
  uses.note("key_a", 0);
  await uses.flush();
  // The request ends, and its timers with it.
  uses.note("key_a", 1);
  vi.clearAllTimers();
  vi.spyOn(performance, "now").mockReturnValue(performance.now() + 120_000);
  uses.note("key_a", 120_000);
  await uses.flush();
  expect(written).toEqual(["key_a", "key_a"]);
});

describe("gateway.idle(maxMs)", () => {
  it.each([Number.POSITIVE_INFINITY, 2 ** 40])("%d waits for as long as it takes", async (maxMs) => {
    let end = (): void => {};
    const { gateway } = await start({
      requestLog: { ...memoryRequestLog(), write: () => new Promise<void>((resolve) => (end = resolve)) },
    });
    await gateway.handler(getRequest("/v1/models"));
    let isOver = false;
    const idle = gateway.idle(maxMs).then(() => {
      isOver = true;
    });
    await vi.advanceTimersByTimeAsync(60_000);
    expect(isOver).toBe(false);
    end();
    await idle;
  });

  it.each([Number.NaN, -1, "5" as unknown as number])("%s is refused", async (maxMs) => {
    const { gateway } = await start();
    await expect(gateway.idle(maxMs)).rejects.toThrow(RangeError);
  });
});
