import pg from "pg";
import { afterAll, beforeAll, describe } from "vitest";
import { hasPgBouncer, PgBouncer } from "../../support/pgbouncer.js";
import { TemporaryServer } from "../../support/postgres-server.js";
import { describeLedger } from "./describe-stores.js";
import { binariesOf } from "./grounds.js";

if (!hasPgBouncer) console.warn("SKIPPED: PgBouncer: it is not installed.");

describe.skipIf(!hasPgBouncer)("PostgreSQL 18, behind PgBouncer in transaction mode", () => {
  const server = new TemporaryServer({}, binariesOf(18));
  const bouncer = new PgBouncer();
  let pool: pg.Pool;
  let direct: pg.Pool;
  beforeAll(async () => {
    await server.create();
    await bouncer.start(server);
    // More connections than PgBouncer has to the server, so that no two statements need meet the same one.
    pool = new pg.Pool({ connectionString: bouncer.url, max: 16 });
    direct = new pg.Pool({ connectionString: server.url, max: 8 });
  });
  afterAll(async () => {
    await Promise.all([pool, direct].map((each) => each?.end()));
    await bouncer.stop();
    await server.remove();
  });

  describeLedger("PgBouncer", () => ({
    query: (text, values) => pool.query(text, values),
    connect: () => direct.connect(),
  }));
});
