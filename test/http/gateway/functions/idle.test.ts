import { describe, expect, it, vi } from "vitest";
import { hashKey, memoryKeyStore } from "../../../../src/index.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import { Fixture } from "../../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { chatChunks, createGate, eventStream } from "../../../../src/testing.js";
import { chatRequest, getRequest, startTestGateway } from "../../../support/test-gateway.js";
import { FunctionHost, leavingRequest, notedLedger, startFunction } from "./function-host.js";

/** A gateway with a stream, of which its client has the first piece. */
async function startStream(options: Parameters<typeof startFunction>[0] = {}) {
  const test = await startFunction(options);
  const gate = createGate();
  gate.step(2);
  test.upstream.reply(eventStream(chatChunks("Hello wide world"), { gate }));
  const { request, leave } = leavingRequest();
  const reader = (await test.gateway.handler(request)).body?.getReader();
  await reader?.read();
  const readOn = async () => {
    gate.open();
    while (reader !== undefined && !(await reader.read()).done);
  };
  return { ...test, leave, readOn };
}

describe("idle()", () => {
  it("waits for streams that are open, and for what they leave behind", async () => {
    const { gateway, host, log, readOn } = await startStream();
    const idle = gateway.idle().then(() => host.order.push("idle"));
    await readOn();
    await idle;
    expect(host.order.at(-1)).toBe("idle");
    expect([...host.order].sort()).toEqual(["find", "idle", "logged", "settled", "used"]);
    expect((await log.list()).requests).toMatchObject([{ endReason: "completed" }]);
  });

  it("waits for what a client left behind that has just gone", async () => {
    const { gateway, host, log, leave } = await startStream();
    leave();
    await gateway.idle();
    expect([...host.order].sort()).toEqual(["find", "logged", "settled", "used"]);
    expect((await log.list()).requests).toMatchObject([{ endReason: "client_gone" }]);
  });

  it("does not wait for calls that begin meanwhile", async () => {
    const { gateway, upstream, host, readOn } = await startStream();
    const idle = gateway.idle().then(() => host.order.push("idle"));
    const gate = createGate();
    upstream.reply(eventStream(chatChunks("Later"), { gate }));
    const later = gateway.handler(chatRequest({ stream: true }));
    await upstream.nextRequest();
    await readOn();
    await idle;
    expect(host.order.filter((step) => step === "settled")).toHaveLength(1);
    gate.open();
    await (await later).text();
    await gateway.idle();
    expect(host.order.filter((step) => step === "settled")).toHaveLength(2);
  });

  it("is over after maxMs, whatever goes on", async () => {
    const { gateway, host, readOn } = await startStream();
    await gateway.idle(1);
    expect(host.order).not.toContain("settled");
    await readOn();
    await gateway.idle();
    expect(host.order).toContain("settled");
  });

  it("takes half a minute for a store that never answers, and no longer", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      let writes = 0;
      const test = await startTestGateway({
        requestLog: {
          ...memoryRequestLog(),
          write: () => {
            writes++;
            return new Promise<void>(() => {});
          },
        },
      });
      await test.gateway.handler(getRequest("/v1/models"));
      let isIdle = false;
      const idle = test.gateway.idle().then(() => {
        isIdle = true;
      });
      await vi.advanceTimersByTimeAsync(29_999);
      expect([writes, isIdle]).toEqual([1, false]);
      await vi.advanceTimersByTimeAsync(1);
      await idle;
      const closed = test.close();
      await vi.advanceTimersByTimeAsync(60_000);
      await closed;
    } finally {
      vi.useRealTimers();
    }
  });

  it("resolves at once where nothing goes on, and writes the use of a key once a minute", async () => {
    const touched: string[][] = [];
    const keys = memoryKeyStore([{ key: "sk-pro", id: "key_pro", account: "acct_pro", plan: "pro" }]);
    const { gateway } = await startFunction({
      keys: { find: keys.find.bind(keys), touch: (uses) => void touched.push(uses.map(({ id }) => id)) },
    });
    await gateway.idle();
    for (let call = 0; call < 3; call++) {
      await (await gateway.handler(chatRequest())).text();
      await gateway.idle();
    }
    expect(touched).toEqual([["key_pro"]]);
    expect(await keys.find(hashKey("sk-pro"))).toMatchObject({ id: "key_pro" });
  });
});

it("settleBeforeEndMs is how long a response waits for its settlement, apart from reserveTimeoutMs", async () => {
  const host = new FunctionHost();
  const store = memoryCreditLedger();
  const gate = createGate();
  const settle: typeof store.settle = async (lease, settlement) => {
    await gate.pass();
    return store.settle(lease, settlement);
  };
  const { gateway } = await startFunction({
    ledger: notedLedger(host, { ...store, settle }),
    ledgerOptions: { reserveTimeoutMs: 1, settleBeforeEndMs: 60_000, settleTimeoutMs: 60_000 },
  });
  const text = (await gateway.handler(chatRequest({ stream: true }), host)).text().then(() => host.order.push("end"));
  await vi.waitFor(() => expect(gate.waiting).toBe(1));
  // Its reservation has long had its time.
  await gateway.idle(50);
  expect(host.order).toEqual(["waitUntil"]);
  gate.open();
  await text;
  expect(host.order.indexOf("settled")).toBeLessThan(host.order.indexOf("end"));
});

describe("sweep()", () => {
  it("ends the leases that expired, and says how many", async () => {
    const clock = new ManualClock(Date.UTC(2026, 0, 5, 12));
    const store = memoryCreditLedger({ clock });
    const { gateway } = await startFunction({ ledger: { ...store }, clock, isolate: true });
    const account = new Fixture(clock, store, {});
    for (let call = 0; call < 3; call++) await account.reserve(10);
    expect(await gateway.sweep()).toBe(0);
    clock.advance(900_001);
    expect([await gateway.sweep(), await gateway.sweep()]).toEqual([3, 0]);
  });

  it("says that the ledger is away", async () => {
    const { gateway } = await startFunction({
      ledger: { ...memoryCreditLedger(), sweep: () => Promise.reject(new Error("down")) },
      isolate: true,
    });
    await expect(gateway.sweep()).rejects.toMatchObject({ name: "LedgerUnavailableError" });
  });

  it("has nothing to do for a ledger in this process, or one that needs none", async () => {
    const own = await startTestGateway();
    expect(await own.gateway.sweep()).toBe(0);
    await own.close();
    const { sweep: _, ...without } = memoryCreditLedger();
    const { gateway } = await startFunction({ ledger: without });
    expect(await gateway.sweep()).toBe(0);
  });
});
