import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import type { Model } from "../../../src/gateway/models/model.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import type { Price } from "../../../src/prices/price.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { unique } from "../../../src/testing/credit-ledger-fixture.js";
import { chatAnswer, wholeAnswer } from "../../../src/testing.js";
import { connectIoredis } from "../../contract/redis/clients.js";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";
import { journalOf } from "../../support/journal-of.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { hasRedisServer, RedisServer } from "../../support/redis-server.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

/** At 3, 0.3 and 15 a million; above 200,000 tokens of prompt at 6 and 22.5; `priority` at 6 and 30. */
const price: Price = {
  ...{ input: 3, cachedInput: 0.3, output: 15 },
  steps: [{ above: 200_000, input: 6, output: 22.5 }],
  tiers: { priority: { input: 6, output: 30 } },
};
const model: Model = { ...smallModel, contextLength: 1_000_000, price };

const credits = { session: null, week: null, month: null };
const limits = () => windowLimits({ credits, sessionMs: 3_600_000, now: Date.now() });

interface Example {
  readonly what: string;
  readonly answer: Record<string, unknown>;
  readonly chargedMicro: number;
}

const examples: readonly Example[] = [
  {
    // 368 × 3 + 10,536 × 0.3 + 19 × 15 = 1,104 + 3,160.8 + 285 = 4,549.8
    what: "caches beside the prompt",
    answer: {
      usage: { prompt_tokens: 368, completion_tokens: 19, total_tokens: 10_923, cache_read_input_tokens: 10_536 },
    },
    chargedMicro: 4_550,
  },
  {
    // 200,000 × 3 + 1,000 × 15
    what: "a prompt of exactly a step",
    answer: { usage: { prompt_tokens: 200_000, completion_tokens: 1_000, total_tokens: 201_000 } },
    chargedMicro: 615_000,
  },
  {
    // 200,001 × 6 + 1,000 × 22.5
    what: "a prompt above a step",
    answer: { usage: { prompt_tokens: 200_001, completion_tokens: 1_000, total_tokens: 201_001 } },
    chargedMicro: 1_222_506,
  },
  {
    // 1,000 × 6 + 100 × 30
    what: "a tier that was served",
    answer: {
      service_tier: "priority",
      usage: { prompt_tokens: 1_000, completion_tokens: 100, total_tokens: 1_100 },
    },
    chargedMicro: 9_000,
  },
];

/** @param make - a ledger that shares nothing with other accounts. */
function describeCharges(name: string, make: () => CreditLedger): void {
  describe(`what a server's usage costs: ${name}`, () => {
    it.each(examples)("$what", async ({ answer, chargedMicro }) => {
      const account = unique("account");
      const ledger = make();
      const test = await startTestGateway({
        models: [model],
        keys: memoryKeyStore([{ key: "sk-pro", id: "key", account, plan: "pro" }]),
        plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: null, week: null, month: 100 } } }),
        ledger,
      });
      try {
        test.upstream.reply(wholeAnswer({ ...chatAnswer(), ...answer }));
        const ended = test.nextEvent();
        const response = await test.gateway.handler(chatRequest());
        expect([response.status, await response.text()]).toMatchObject([200, expect.anything()]);
        expect(await ended).toMatchObject({ usageSource: "provider", chargedMicro });
        await expect.poll(async () => (await journalOf(ledger, account)).length).toBe(1);
        expect(await journalOf(ledger, account)).toMatchObject([{ kind: "charge", amountMicro: chargedMicro }]);
        const { windows } = await ledger.balance(account, limits());
        expect(windows.month).toMatchObject({ usedMicro: chargedMicro, heldMicro: 0 });
      } finally {
        await test.close();
      }
    });

    it("prepaid credits pay what the plan does not include", async () => {
      const account = unique("account");
      const ledger = make();
      // 10,000 less 4,550.
      await ledger.topUp?.({ id: unique("topup"), account, amountMicro: 10_000 });
      const test = await startTestGateway({
        models: [model],
        keys: memoryKeyStore([{ key: "sk-pro", id: "key", account, plan: "pro" }]),
        plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { session: null, week: null, month: 0 } } }),
        ledger,
      });
      try {
        test.upstream.reply(wholeAnswer({ ...chatAnswer(), ...examples[0]?.answer }));
        const ended = test.nextEvent();
        const response = await test.gateway.handler(chatRequest());
        expect([response.status, await response.text()]).toMatchObject([200, expect.anything()]);
        expect(await ended).toMatchObject({ chargedMicro: 4_550 });
        const balance = async () => (await ledger.balance(account, limits())).prepaid?.balanceMicro;
        await expect.poll(balance).toBe(5_450);
      } finally {
        await test.close();
      }
    });
  });
}

describeCharges("memory", () => memoryCreditLedger());

const folder = new DatabaseFolder();
afterAll(() => folder.remove());
describeCharges("SQLite", () => sqliteCreditLedger({ database: folder.open() }));

describe.runIf(hasRedisServer)("Redis", () => {
  let server: RedisServer;
  let connected: Awaited<ReturnType<typeof connectIoredis>>;
  beforeAll(async () => {
    server = await RedisServer.start();
    connected = await connectIoredis(server.port);
  });
  afterAll(async () => {
    connected?.end();
    await server?.stop();
  });
  describeCharges("Redis", () => redisCreditLedger({ client: connected.client }));
});

describeWithPostgres("PostgreSQL", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url, max: 4 });
  });
  afterAll(() => pool.end());
  describeCharges("PostgreSQL", () => postgresCreditLedger({ pool }));
});
