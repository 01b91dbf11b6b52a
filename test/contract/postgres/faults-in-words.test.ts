import pg from "pg";
import { expect, it } from "vitest";
import { createGateway, type GatewayWarning, type LedgerEvent } from "../../../src/index.js";
import { type PostgresStoresOptions, postgresStores } from "../../../src/postgres.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { freePort } from "../../support/free-port.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { chatRequest, smallModel } from "../../support/test-gateway.js";

describeWithPostgres("a mistake that lasts", (server) => {
  const as = (user: string, database = "postgres") => `postgres://${user}@127.0.0.1:${server.port}/${database}`;

  async function firstCall(connectionString: string, options: Partial<PostgresStoresOptions> = {}) {
    const pool = new pg.Pool({ connectionString });
    const warnings: GatewayWarning[] = [];
    const events: LedgerEvent[] = [];
    const gateway = createGateway({
      ...postgresStores({ pool, listen: false, ...options }),
      models: [smallModel],
      providers: { fake: openAICompatible({ baseURL: "http://127.0.0.1:1/v1" }) },
      onWarning: (warning) => warnings.push(warning),
      onLedgerEvent: (event) => events.push(event),
    });
    try {
      const response = await gateway.handler(chatRequest());
      const managed = await gateway.accounts.balance("acct_1", { plan: "pro" }).catch((error: Error) => error.message);
      return { status: response.status, text: await response.text(), warnings, events, managed };
    } finally {
      await gateway.close();
      await pool.end();
    }
  }

  it.each<[string, () => Promise<string> | string, Partial<PostgresStoresOptions>, RegExp]>([
    ["no such role", () => as("nobody"), {}, /it refuses the user or the password \(28000\)/],
    ["no such database", () => as("postgres", "nowhere"), {}, /there is no such database \(3D000\)/],
    [
      "no permission to make a schema",
      () => as("weak"),
      { schema: "another" },
      /its user lacks a permission \(42501\)/,
    ],
    ["nobody there", async () => `postgres://postgres@127.0.0.1:${await freePort()}/postgres`, {}, /\(ECONNREFUSED\)/],
  ])("%s: the host reads what is wrong, and the client that it is a 503", async (_name, url, options, words) => {
    const admin = new pg.Client(server.url);
    await admin.connect();
    await admin.query("DROP ROLE IF EXISTS weak");
    await admin.query("CREATE ROLE weak LOGIN");
    await admin.end();
    const { status, text, warnings, managed } = await firstCall(await url(), options);
    expect(status).toBe(503);
    expect(text).toContain("API keys cannot be checked at the moment. Try again shortly.");
    expect(text).not.toMatch(words);
    expect(warnings).toMatchObject([{ code: "key_store_failed", message: expect.stringMatching(words) }]);
    expect(warnings[0]?.cause).toBeInstanceOf(Error);
    expect(managed).toMatch(words);
  });
});
