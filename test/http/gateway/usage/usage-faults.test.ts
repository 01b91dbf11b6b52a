import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { toNodeHandler } from "../../../../src/node.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import { redisRequestLog } from "../../../../src/stores/redis/redis-request-log.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { chatAnswer, wholeAnswer } from "../../../../src/testing.js";
import { RedisTest } from "../../../contract/redis/redis-test.js";
import { type Host, listen } from "../../../support/adapters/host.js";
import { postJson } from "../../../support/post-json.js";
import { hasRedisServer } from "../../../support/redis-server.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway | undefined;
let host: Host | undefined;
afterEach(async () => {
  await host?.close();
  await test?.close();
  [test, host] = [undefined, undefined];
});

const chat = { model: "acme/small", messages: [{ role: "user", content: "Hello!" }] };
const usage = { prompt_tokens: 10, completion_tokens: 20, total_tokens: 30 };

async function start(options: Parameters<typeof startTestGateway>[0]) {
  test = await startTestGateway(options);
  test.upstream.reply((request, response) => {
    const isBroken = request.json.user === "broken";
    const answer = isBroken
      ? wholeAnswer({ error: { message: "No." } }, { status: 500 })
      : wholeAnswer(chatAnswer({ usage }));
    return answer(request, response);
  });
  host = await listen(toNodeHandler(test.gateway));
  const { origin } = host;
  const call = async (key: string, body: object = {}) => {
    const response = await postJson(`${origin}/v1/chat/completions`, key, { ...chat, ...body });
    await response.arrayBuffer();
    return response.status;
  };
  return { gateway: test.gateway, call };
}

function describeFaults(name: string, log: () => ReturnType<typeof memoryRequestLog>): void {
  it(`has refusals and failures beside what was used of the same, ${name}`, async () => {
    const { gateway, call } = await start({ requestLog: log() });
    const statuses = [await call("sk-basic"), await call("sk-basic", { model: "acme/large" }), await call("sk-wrong")];
    statuses.push(await call("sk-pro", { user: "broken" }), await call("sk-basic", { messages: "?" }));
    expect(statuses).toEqual([200, 403, 401, 502, 400]);
    const counts = async (query: object) =>
      (await gateway.usage({ refusals: true, ...query })).map((record) => [
        ...Object.values(record.by),
        ...[record.requests, record.refusals, record.failures],
      ]);
    // Only what was used, unless it is asked for the rest.
    expect(await counts({ by: ["model"], refusals: undefined })).toEqual([["acme/small", 1, 0, 1]]);
    expect(await counts({ by: ["account"], refusals: false })).toEqual([["acct_basic", 1, 2, 0]]);
    expect(await counts({ refusals: false })).toEqual([[1, 3, 1]]);
    expect(await gateway.usage({ where: { account: "acct_pro" } })).toEqual([]);
    expect(await counts({})).toEqual([[1, 3, 1]]);
    expect(await counts({ by: ["account"] })).toEqual([
      [null, 0, 1, 0],
      ["acct_basic", 1, 2, 0],
      ["acct_pro", 0, 0, 1],
    ]);
    expect(await counts({ by: ["model", "target", "key"], where: { account: "acct_basic" } })).toEqual([
      [null, null, "key_basic", 0, 1, 0],
      ["acme/large", null, "key_basic", 0, 1, 0],
      ["acme/small", "fake/upstream-small", "key_basic", 1, 0, 0],
    ]);
    // The log does not know who paid.
    expect(await counts({ by: ["funding"] })).toEqual([
      [null, 0, 3, 1],
      ["plan", 1, 0, 0],
    ]);
    expect(await counts({ where: { funding: "plan" } })).toEqual([[1, 0, 0]]);
    const [lone] = await gateway.usage({ where: { account: "acct_pro" }, refusals: true });
    const tokens = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };
    expect(lone).toMatchObject({ by: {}, requests: 0, chargedMicro: 0, tokens, refusals: 0, failures: 1 });
  });
}

describe("gateway.usage", () => {
  describeFaults("in memory", () => memoryRequestLog());

  describe.runIf(hasRedisServer)("on Redis", () => {
    let redis: RedisTest;
    beforeAll(async () => {
      redis = await RedisTest.start();
    });
    afterAll(() => redis?.stop());
    describeFaults("in Redis", () => redisRequestLog({ client: redis.client, prefix: "faults", timeoutMs: 20_000 }));
  });

  it("puts each into its hour or day of a time zone, in the order of the periods", async () => {
    const clock = new ManualClock(Date.parse("2026-03-11T18:15:30Z"));
    const { gateway, call } = await start({
      ...{ clock, ledger: memoryCreditLedger({ clock }), requestLog: memoryRequestLog({ clock }) },
    });
    // In Kolkata it is 23:45, then 00:15 of the next day, and 01:15.
    await call("sk-basic", { model: "acme/large" });
    clock.advance(1_800_000);
    await call("sk-basic");
    clock.advance(3_600_000);
    await call("sk-basic", { user: "broken" });
    clock.advance(1);
    const counts = async (every: "hour" | "day") => {
      const query = {
        refusals: true,
        from: "2026-03-11T00:00Z",
        every,
        timeZone: "Asia/Kolkata",
        by: ["account"],
      } as const;
      const records = await gateway.usage(query);
      return records.map(({ period, requests, refusals, failures }) => [period?.name, requests, refusals, failures]);
    };
    expect(await counts("hour")).toEqual([
      ["2026-03-11T23:00", 0, 1, 0],
      ["2026-03-12T00:00", 1, 0, 0],
      ["2026-03-12T01:00", 0, 0, 1],
    ]);
    expect(await counts("day")).toEqual([
      ["2026-03-11", 0, 1, 0],
      ["2026-03-12", 1, 0, 1],
    ]);
  });

  it("says nothing of both without a request log, and fails with one that is away", async () => {
    const { gateway, call } = await start({});
    await call("sk-basic");
    const [record] = await gateway.usage();
    expect(Object.keys(record ?? {})).not.toContain("refusals");
    expect(Object.keys(record ?? {})).not.toContain("failures");
    await test?.close();
    const away = async () => {
      throw new Error("connect ECONNREFUSED db.internal");
    };
    test = await startTestGateway({ requestLog: { ...memoryRequestLog(), counts: away } });
    await expect(test.gateway.usage()).rejects.toMatchObject({
      status: 503,
      message: expect.stringMatching(/^gateway\.usage: the request log store failed/),
    });
  });
});
