import { afterEach, expect, it } from "vitest";
import { shardedLedger } from "../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { faultyLedger } from "../../support/guard/faulty-ledger.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
afterEach(() => test.close());

async function call(key = "sk-basic"): Promise<number> {
  const response = await test.gateway.handler(chatRequest({}, key));
  await response.text();
  return response.status;
}

it("of a ledger in this process is that all is well", async () => {
  test = await startTestGateway();
  expect(test.gateway.health().ledgers).toEqual([{ outages: 0, kept: 0, lost: 0 }]);
});

it("tells of an outage while it lasts and when it is over, and of what is kept meanwhile", async () => {
  const ledger = faultyLedger(memoryCreditLedger());
  test = await startTestGateway({ ledger });
  expect(await call()).toBe(200);
  const from = Date.now();
  ledger.fates = ["ok"];
  ledger.otherwise = "refused";
  expect(await call()).toBe(200);
  expect(await call()).toBe(503);
  const [away] = test.gateway.health().ledgers;
  expect(away).toMatchObject({ outages: 1, kept: 1, lost: 0 });
  expect(away?.downSince).toBeGreaterThanOrEqual(from);
  expect(away?.keptSince).toBeGreaterThanOrEqual(from);
  expect(away?.lastOutage).toBeUndefined();
  ledger.otherwise = "ok";
  await expect.poll(() => test.gateway.health().ledgers[0]?.kept).toBe(0);
  const [back] = test.gateway.health().ledgers;
  expect(back).toMatchObject({ outages: 1, kept: 0, lost: 0, lastOutage: { from: away?.downSince } });
  expect(back).not.toHaveProperty("downSince");
});

it("names the shard that is away, and not the others", async () => {
  const faulty = faultyLedger(memoryCreditLedger());
  const inner = shardedLedger<string>({
    shards: { one: faultyLedger(memoryCreditLedger()), two: faulty },
    shardOf: () => "two",
  });
  const ledger = shardedLedger({
    shards: { eu: inner, us: faultyLedger(memoryCreditLedger()) },
    shardOf: (account) => (account === "acct_basic" ? "eu" : "us"),
  });
  test = await startTestGateway({ ledger });
  faulty.otherwise = "refused";
  expect([await call(), await call("sk-pro")]).toEqual([503, 200]);
  const { ledgers } = test.gateway.health();
  expect(ledgers.map(({ shard, downSince }) => [shard, downSince !== undefined])).toEqual([
    ["eu/one", false],
    ["eu/two", true],
    ["us", false],
  ]);
});

it("counts what will never reach the ledger", async () => {
  const ledger = faultyLedger(memoryCreditLedger());
  test = await startTestGateway({ ledger, ledgerOptions: { maxKeptSettlements: 1, onUnavailable: "allow" } });
  ledger.otherwise = "refused";
  expect([await call(), await call(), await call()]).toEqual([200, 200, 200]);
  expect(test.gateway.health().ledgers).toMatchObject([{ kept: 1, lost: 2 }]);
  ledger.otherwise = "ok";
});
