import { afterEach, describe, expect, it } from "vitest";
import { windowLimits } from "../../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { shardedLedger } from "../../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryAccountStore } from "../../../../src/stores/memory/memory-stores.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { chatAnswer, wholeAnswer } from "../../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway | undefined;
afterEach(async () => {
  await test?.close();
  test = undefined;
});

const hour = 3_600_000;
const noTokens = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };
const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };
let serial = 0;

/** A ledger with a call of 1 credit an hour, of two accounts by turns, for a day from this moment on. */
async function filled(ledger: CreditLedger, clock: ManualClock, hours = 24): Promise<void> {
  for (let call = 0; call < hours; call++) {
    const [account, plan] = call % 2 === 0 ? ["acct_pro", "pro"] : ["acct_basic", "basic"];
    const limits = windowLimits({
      credits: { session: null, week: null, month: null },
      sessionMs: hour,
      anchor: undefined,
      now: clock.now(),
    });
    const reserved = await ledger.reserve({ id: `call ${++serial}`, account, amountMicro: 1, limits, leaseMs: 60_000 });
    if (!reserved.ok) throw new Error("denied");
    await ledger.settle(reserved.lease, {
      amountMicro: 1_000_000,
      tags: { plan, model: "m", "tag.team": `t${call % 3}` },
    });
    clock.advance(hour);
  }
}

/** The gateway goes by the system's clock, and the ledger by its own. */
async function startFilled(make: (ledger: CreditLedger) => CreditLedger, at: string, hours?: number) {
  const clock = new ManualClock(Date.parse(at));
  const ledger = memoryCreditLedger({ clock });
  await filled(ledger, clock, hours);
  const accounts = memoryAccountStore([
    { id: "acct_pro", plan: "pro" },
    { id: "acct_basic", plan: "basic" },
  ]);
  test = await startTestGateway({ ledger: make(ledger), accounts });
  return test.gateway;
}

/** As a ledger that cannot tell which accounts it has. */
function withoutTotals({ totals, ...ledger }: CreditLedger): CreditLedger {
  return ledger;
}

describe.each([
  ["the ledger's own totals", (ledger: CreditLedger) => ledger],
  ["the journals of records", withoutTotals],
  [
    "shards",
    (ledger: CreditLedger) =>
      shardedLedger({ shards: { one: ledger, two: memoryCreditLedger() }, shardOf: (): "one" | "two" => "one" }),
  ],
])("gateway.usage, by %s", (_, make) => {
  it("adds up all accounts, by what it is asked for", async () => {
    const gateway = await startFilled(make, "2026-03-11T00:00Z");
    const range = { from: "2026-03-11", to: "2026-03-12" };
    expect(await gateway.usage(range)).toEqual([{ by: {}, requests: 24, chargedMicro: 24_000_000, tokens: noTokens }]);
    const named = await gateway.usage({ ...range, where: { account: ["acct_pro", "acct_pro"] } });
    expect(named).toMatchObject([{ requests: 12, chargedMicro: 12_000_000 }]);
    const shares = async (query: object) =>
      (await gateway.usage({ ...range, ...query })).map(({ by, requests }) => [...Object.values(by), requests]);
    expect(await shares({ by: ["account", "plan"] })).toEqual([
      ["acct_basic", "basic", 12],
      ["acct_pro", "pro", 12],
    ]);
    expect(await shares({ by: ["team"], where: { plan: "pro" } })).toEqual([
      ["t0", 4],
      ["t1", 4],
      ["t2", 4],
    ]);
    expect(await shares({ by: ["tag.team"], where: { account: ["acct_pro", "nobody"], team: ["t1", "t2"] } })).toEqual([
      ["t1", 4],
      ["t2", 4],
    ]);
    expect(await shares({ where: { key: null, model: "m", funding: "plan" } })).toEqual([[24]]);
    expect(await shares({ where: { model: null } })).toEqual([]);
    expect(await shares({ to: "2026-03-11" })).toEqual([]);
  });

  it("adds up each day of a time zone, of 25 hours where clocks are put back", async () => {
    const gateway = await startFilled(make, "2026-10-24T22:00Z", 40);
    const query = { from: "2026-10-24T22:00Z", to: "2026-10-26T23:00Z", every: "day" } as const;
    const days = await gateway.usage({ ...query, timeZone: "Europe/Berlin", by: ["plan"] });
    expect(days.map(({ period, by, requests }) => [period?.name, by["plan"], requests])).toEqual([
      ["2026-10-25", "basic", 12],
      ["2026-10-25", "pro", 13],
      ["2026-10-26", "basic", 8],
      ["2026-10-26", "pro", 7],
    ]);
    expect(days[0]?.period).toMatchObject({
      from: Date.parse("2026-10-24T22:00Z"),
      to: Date.parse("2026-10-25T23:00Z"),
    });
  });

  it("adds up each hour of a time zone that is half an hour aside", async () => {
    const gateway = await startFilled(make, "2026-03-11T00:15Z", 4);
    const query = {
      from: "2026-03-11T00:00Z",
      to: "2026-03-11T03:00Z",
      every: "hour",
      timeZone: "Asia/Kolkata",
    } as const;
    const hours = await gateway.usage({ ...query, where: { account: "acct_pro" } });
    expect(hours.map(({ period, requests }) => [period?.name, requests])).toEqual([
      ["2026-03-11T05:30", 1],
      ["2026-03-11T07:00", 1],
    ]);
  });
});

describe("gateway.usage", () => {
  it("has the margin of the calls with a known cost", async () => {
    const clock = new ManualClock(Date.parse("2026-03-11T00:00Z"));
    const ledger = memoryCreditLedger({ clock });
    const calls: [charged: number, model: string, costMicro?: number][] = [
      [1_200, "m", 600],
      [300, "m", 450],
      [70, "m"],
      [5, "n"],
    ];
    const credits = { session: null, week: null, month: null };
    const limits = windowLimits({ credits, sessionMs: hour, anchor: undefined, now: clock.now() });
    for (const [amountMicro, model, costMicro] of calls) {
      const request = { id: `call ${++serial}`, account: "acct_1", amountMicro, limits, leaseMs: 60_000 };
      const reserved = await ledger.reserve(request);
      if (!reserved.ok) throw new Error("denied");
      const tags = { model, ...(costMicro !== undefined && { costMicro }) };
      await ledger.settle(reserved.lease, { amountMicro, tags });
    }
    test = await startTestGateway({ ledger });
    expect(await test.gateway.usage({ by: ["model"] })).toEqual([
      {
        ...{ by: { model: "m" }, requests: 3, tokens: noTokens },
        ...{ chargedMicro: 1_570, costMicro: 1_050, costedMicro: 1_500, marginMicro: 450 },
      },
      { by: { model: "n" }, requests: 1, tokens: noTokens, chargedMicro: 5 },
    ]);
  });

  it("has the plan and the target of calls", async () => {
    test = await startTestGateway();
    test.upstream.reply(wholeAnswer(chatAnswer({ usage })));
    expect((await test.gateway.handler(chatRequest())).status).toBe(200);
    const [record, ...others] = await test.gateway.usage({ by: ["plan", "target", "model", "funding"] });
    expect(others).toEqual([]);
    expect(record).toMatchObject({ by: { plan: "pro", model: "acme/small", funding: "plan" }, requests: 1 });
    expect(record?.by["target"]).toMatch(/^\w+\/\S+$/);
    expect(record?.tokens).toMatchObject({ input: 10, output: 20 });
  });

  it.each([
    [{ by: ["keyId"] }, /by: must be account, plan.*not `keyId` \(did you mean `key`\?\)/],
    [{ by: ["day"] }, /not `day` \(did you mean `every`\?\)/],
    [{ where: { accountId: "a" } }, /where: must be .*not `accountId` \(did you mean `account`\?\)/],
    [{ by: ["a b"] }, /not `a b`\.$/],
    [{ by: ["team", "tag.team"] }, /each thing once/],
    [{ by: Array.from({ length: 17 }, (_, place) => `t${place}`) }, /by/],
    [{ where: { team: "red", "tag.team": "blue" } }, /where must name each thing once/],
    [{ where: JSON.parse('{ "__proto__": "red" }') }, /where: must be .*not `__proto__`/],
    [{ where: Object.fromEntries(Array.from({ length: 17 }, (_, place) => [`t${place}`, "a"])) }, /at most 16 members/],
    [{ where: { team: ["a", 1] } }, /where\.team: must be a string/],
    [{ where: { team: "a\u0000" } }, /well-formed Unicode without NUL/],
    [{ every: "day" }, /give `from`/],
    [{ from: "2026-01-01", every: "week" }, /every/],
    [{ from: "2026-01-01", every: "day", timeZone: "Berlin" }, /timeZone: must be a time zone.*"Berlin"/],
    [{ from: "2016-01-01", every: "hour" }, /more than 10000 periods/],
    [{ where: { model: [] } }, /where/],
    [{ form: "2026-01-01" }, /no member `form`/],
  ])("refuses %j", async (query, message) => {
    test = await startTestGateway();
    const asked = test.gateway.usage(query as object);
    await expect(asked).rejects.toThrow(TypeError);
    await expect(asked).rejects.toMatchObject({ status: 400, message: expect.stringMatching(message) });
  });

  it("refuses more sums than a process should keep", async () => {
    const by = Array.from({ length: 100_001 }, (_, place) => ({
      ...{ period: 0, by: [`t${place}`], requests: 1, chargedMicro: 1, tokens: noTokens },
    }));
    let found = by;
    test = await startTestGateway({ ledger: { ...memoryCreditLedger(), totals: async () => found } });
    await expect(test.gateway.usage({ by: ["team"] })).rejects.toMatchObject({
      status: 400,
      message: expect.stringMatching(/more than 100000 sums\. Ask for a shorter time/),
    });
    found = by.slice(1);
    expect(await test.gateway.usage({ by: ["team"] })).toHaveLength(100_000);
  });

  it("says what to do where the ledger cannot tell its accounts, or has no journal", async () => {
    test = await startTestGateway({ ledger: withoutTotals(memoryCreditLedger()) });
    await expect(test.gateway.usage()).rejects.toThrow(
      /Name them in `where: \{ account: \[\.\.\.\] \}`, or give createGateway/,
    );
    await expect(test.gateway.usage()).rejects.toMatchObject({ status: 501 });
    expect(await test.gateway.usage({ where: { account: "acct_pro" } })).toEqual([]);
    await test.close();
    test = await startTestGateway({ ledger: memoryCreditLedger({ historyEntries: 0 }) });
    await expect(test.gateway.usage()).rejects.toMatchObject({
      status: 501,
      message: expect.stringMatching(/keeps no journal/),
    });
    await test.close();
    const secret = "connect ECONNREFUSED 10.1.2.3, password hunter2";
    const down = async () => Promise.reject(new Error(secret));
    test = await startTestGateway({ ledger: { ...memoryCreditLedger(), totals: down } });
    const failed: unknown = await test.gateway.usage().catch((error: unknown) => error);
    expect(failed).toMatchObject({ status: 503, message: expect.not.stringContaining("hunter2") });
  });
});
