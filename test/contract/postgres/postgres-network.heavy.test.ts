import pg from "pg";
import { it } from "vitest";
import { postgresCreditLedger } from "../../../src/stores/postgres/postgres-credit-ledger.js";
import { FaultyProxy } from "../../support/faulty-proxy.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { spendThrough } from "../contracts/credit-ledger-network.js";

describeWithPostgres("PostgreSQL on a bad network", (server) => {
  it("charges once what is repeated while connections are cut, reset and slow", async () => {
    const proxy = await FaultyProxy.start(server.port);
    const connectionString = server.url.replace(String(server.port), String(proxy.port));
    const pool = new pg.Pool({ connectionString, max: 4, connectionTimeoutMillis: 2_000, query_timeout: 1_000 });
    pool.on("error", () => {});
    try {
      await spendThrough(proxy, postgresCreditLedger({ pool }));
    } finally {
      await pool.end();
      await proxy.stop();
    }
  });
});
