import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { postgresVersions } from "../../../src/stores/postgres/schema/postgres-versions.js";
import { runMigrations } from "../../../src/stores/postgres/schema/run-migrations.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { createShiftedSchema, shiftedPool } from "../../contract/postgres/test-schema.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { releases } from "./dump.js";
import { expectBooks } from "./expect-books.js";
import { loadPostgres } from "./load-postgres.js";
import { postgresCatalog } from "./postgres-catalog.js";
import { writeBooks } from "./write-books.js";

describeWithPostgres("PostgreSQL, books that a version has left", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url });
  });
  afterAll(() => pool.end());

  function storesAt(schema: string, clock: ManualClock) {
    const { keys, plans, ledger, accounts, responses, budgets, modelStore } = postgresStores({
      pool: shiftedPool(pool, schema, clock),
      schema,
    });
    return { keys, plans, ledger, accounts, responses, budgets, modelStore };
  }

  it("are taken on by the next one", async () => {
    const schema = "books_next";
    const clock = new ManualClock(Date.UTC(2026, 2, 11, 9, 31));
    await createShiftedSchema(pool, schema);
    const stores = storesAt(schema, clock);
    const books = await writeBooks(stores, { now: () => clock.now(), pass: (ms) => clock.advance(ms) });
    await stores.ledger.close();
    await runMigrations(pool, schema, [
      ...postgresVersions,
      "alter table infergate.record add column next text; alter table infergate.entry add column next text;",
    ]);
    const next = storesAt(schema, new ManualClock(books.at));
    await expectBooks(next, books);
    await next.ledger.close();
  });

  it.each(releases())("are taken on: %s", async (release) => {
    const schema = `books_${release.replaceAll(/\W/g, "_")}`;
    const books = await loadPostgres(pool, schema, release);
    await createShiftedSchema(pool, schema);
    const stores = storesAt(schema, new ManualClock(books.at));
    await expectBooks(stores, books);
    await stores.ledger.close();
  });

  it.each(releases())("end up in the schema that a new one has: %s", async (release) => {
    const schema = `catalog_${release.replaceAll(/\W/g, "_")}`;
    await loadPostgres(pool, schema, release);
    for (const each of ["fresh", schema]) await postgresStores({ pool, schema: each }).migrate();
    expect(await postgresCatalog(pool, schema)).toEqual(await postgresCatalog(pool, "fresh"));
  });
});
