import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import type { PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { postgresOn } from "../../contract/stores/postgres.js";
import { describeOnStore } from "../../contract/stores/store-under-test.js";
import { TemporaryServer } from "../../support/postgres-server.js";
import { chatRequest, startTestGateway } from "../../support/test-gateway.js";
import { binariesOf } from "./grounds.js";
import { loadNeon, type Neon } from "./installed.js";
import { NeonHttp } from "./neon-http.js";

const url = "postgresql://user:secret@endpoint.neon.test/neondb";

describe("Neon's driver over HTTP", () => {
  const server = new TemporaryServer({}, binariesOf(18));
  let endpoint: NeonHttp;
  let driver: Neon;
  let pool: PostgresPool;
  beforeAll(async () => {
    await server.create();
    endpoint = await NeonHttp.start(server.url);
    driver = await loadNeon();
    driver.neonConfig.fetchEndpoint = endpoint.url;
    pool = driver.neon(url, { fullResults: true });
  });
  afterAll(async () => {
    await endpoint.close();
    await server.remove();
  });

  it("carries a gateway, and nobody is warned that it does not listen", async () => {
    const stores = postgresStores({ pool });
    expect([stores.keys.subscribe, stores.ledger.subscribe]).toEqual([undefined, undefined]);
    await stores.plans.put({ id: "pro", models: ["acme/*"], credits: { week: 1_000 } });
    await stores.keys.insert({
      id: "k",
      hash: hashKey("sk-pro"),
      hint: "sk-…",
      account: "a",
      plan: "pro",
      createdAt: 1,
    });
    const test = await startTestGateway({
      ...stores,
      ledgerOptions: { reserveTimeoutMs: 10_000, settleTimeoutMs: 20_000 },
    });
    const answers = await Promise.all(Array.from({ length: 10 }, () => test.gateway.handler(chatRequest())));
    expect(answers.map(({ status }) => status)).toEqual(new Array(10).fill(200));
    await Promise.all(answers.map((answer) => answer.text()));
    await test.close();
    expect(test.warnings).toEqual([]);
    expect(test.events).toHaveLength(10);
    expect(endpoint.requests).toBeGreaterThan(5);
  });

  it("is told how to be made where it returns bare rows", async () => {
    const bare = driver.neon(url) as unknown as PostgresPool;
    await expect(postgresStores({ pool: bare, schema: "bare" }).plans.find("p")).rejects.toThrow(/fullResults: true/);
  });

  const { name, start, ledger } = postgresOn("Neon over HTTP", () => [pool, pool]);
  describeOnStore({ name, start, ledger, ledgerRuns: 5 });
});
