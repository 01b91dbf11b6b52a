import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { postgresStores } from "../../src/postgres/postgres-stores.js";
import { ManualClock } from "../../src/testing/manual-clock.js";
import { createShiftedSchema, shiftedPool } from "../postgres/test-schema.js";
import { describeWithPostgres } from "../support/postgres-server.js";
import { commitsOf } from "./dump.js";
import { expectBooks } from "./expect-books.js";
import { loadPostgres } from "./load-postgres.js";
import { postgresCatalog } from "./postgres-catalog.js";

describeWithPostgres("PostgreSQL, books that earlier versions have left", (server) => {
  let pool: pg.Pool;
  let catalog: string;
  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url });
    await postgresStores({ pool, schema: "fresh" }).migrate();
    catalog = await postgresCatalog(pool, "fresh");
  });
  afterAll(() => pool.end());

  it.each(commitsOf("postgres"))("are taken on: %s", async (commit) => {
    const schema = `books_${commit}`;
    const { books } = await loadPostgres(pool, schema, commit);
    const clock = new ManualClock(books.at);
    await createShiftedSchema(pool, schema);
    const { keys, plans, ledger, accounts, responses, budgets, catalog } = postgresStores({
      pool: shiftedPool(pool, schema, clock),
      schema,
    });
    await expectBooks({ keys, plans, ledger, accounts, responses, budgets, catalog }, books);
    await ledger.close();
  });

  it.each(commitsOf("postgres"))("end up in the schema that a new one has: %s", async (commit) => {
    const schema = `catalog_${commit}`;
    await loadPostgres(pool, schema, commit);
    await postgresStores({ pool, schema }).migrate();
    expect(await postgresCatalog(pool, schema)).toEqual(catalog);
  });
});
