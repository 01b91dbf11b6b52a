import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { postgresRequestLog } from "../../../src/stores/postgres/postgres-request-log.js";
import { RequestLogFixture, refused } from "../../../src/testing/request-log/request-log-fixture.js";
import { describeWithPostgres } from "../../support/postgres-server.js";

describeWithPostgres("PostgreSQL, requests", (server) => {
  let pool: pg.Pool;

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url, max: 10 });
  });
  afterAll(() => pool.end());

  it("takes the batches of several processes at once, each line once", async () => {
    const log = new RequestLogFixture(postgresRequestLog({ pool }));
    const others = Array.from({ length: 4 }, () => postgresRequestLog({ pool }));
    const lines = Array.from({ length: 200 }, () => log.make({ ...refused, tags: { member: "42" } }));
    // All of them write all, as after a failure of which nobody knows how it ended.
    await Promise.all(others.map((other) => other.write(lines)));
    expect(await log.ids({ tag: { member: "42" } })).toHaveLength(200);
    const request = { periods: [log.begin, log.begin + 60_000], by: [], where: { account: [log.account] } };
    expect(await log.log.counts(request)).toEqual([{ period: 0, by: [], refusals: 200, failures: 0 }]);
  });
});
