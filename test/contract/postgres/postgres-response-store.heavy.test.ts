import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { postgresResponseStore } from "../../../src/stores/postgres/postgres-response-store.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { item } from "../../../src/testing/response-store/response-fixture.js";
import { describeWithPostgres } from "../../support/postgres-server.js";
import { responseOf } from "../contracts/response-store-bounds.js";
import { createShiftedSchema, shiftedPool } from "./test-schema.js";

const day = 86_400_000;
const schema = "shifted";

describeWithPostgres("PostgreSQL, responses", (server) => {
  let pool: pg.Pool;

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url, max: 20 });
    await createShiftedSchema(pool, schema);
  });
  afterAll(() => pool.end());

  async function counts(of: string): Promise<number[]> {
    const tables = ["response", "response_item", "response_account"];
    const results = await Promise.all(tables.map((table) => pool.query(`select count(*)::int from ${of}.${table}`)));
    return results.map(({ rows }) => rows[0].count);
  }

  it("leaves no row of what is deleted or forgotten", async () => {
    const store = postgresResponseStore({ pool, schema: "leaving" });
    for (let n = 0; n < 250; n++) await store.put({ ...responseOf("a", `${n}`), input: [item("x")] });
    await store.delete("a", "7");
    expect(await counts("leaving")).toEqual([249, 249, 1]);
    await store.forget("a");
    expect(await counts("leaving")).toEqual([0, 0, 0]);
    await store.put(responseOf("a", "1"));
    await store.delete("a", "1");
    await store.delete("a", "1");
    expect(await counts("leaving")).toEqual([0, 0, 0]);
  });

  it("deletes what has expired, of accounts that are not used any more, too, but waits for no busy one", async () => {
    const purged = "purged";
    await createShiftedSchema(pool, purged);
    const clock = new ManualClock(day);
    const open = () => postgresResponseStore({ pool: shiftedPool(pool, purged, clock), schema: purged, ttlMs: day });
    const store = open();
    for (let n = 0; n < 20; n++) await store.put({ ...responseOf(`dormant-${n % 5}`, `${n}`), input: [item("x")] });
    clock.advance(day);
    await store.put(responseOf("dormant-1", "fresh"));
    const busy = await pool.connect();
    await busy.query(`begin; select from ${purged}.response_account where id = 'dormant-0' for update`);
    const second = open();
    await second.put(responseOf("new", "1"));
    await second.close();
    expect(await counts(purged)).toEqual([6, 4, 3]);
    await busy.query("rollback");
    busy.release();
    const third = open();
    await third.put(responseOf("new", "2"));
    await third.close();
    expect(await counts(purged)).toEqual([3, 0, 2]);
    const { rows } = await pool.query(`select bytes from ${purged}.response_account order by id`);
    expect(rows).toEqual([{ bytes: "258" }, { bytes: "516" }]);
  });

  it("takes the time from the database", async () => {
    const store = postgresResponseStore({ pool, schema: "timed", ttlMs: 60_000 });
    await store.put(responseOf("a", "1"));
    const { rows } = await pool.query(
      "select abs(put_at - extract(epoch from clock_timestamp()) * 1000) < 60000 as near from timed.response",
    );
    expect(rows).toEqual([{ near: true }]);
  });

  it.each(["serializable", "repeatable read"])(
    "fails nothing on a busy account where transactions are %s",
    async (level) => {
      const options = `-c default_transaction_isolation=${level.replace(" ", "\\ ")}`;
      const pools = [1, 2, 3].map(() => new pg.Pool({ connectionString: server.url, options, max: 3 }));
      const stores = pools.map((each) => postgresResponseStore({ pool: each, schema: "strict" }));
      const account = randomUUID();
      const use = async (store: (typeof stores)[number]) => {
        for (let n = 0; n < 10; n++) {
          const ids = [randomUUID(), randomUUID()];
          await Promise.all(ids.map((id) => store.put({ ...responseOf(account, id, 700), input: [item("x")] })));
          expect(await Promise.all(ids.map((id) => store.delete(account, id)))).toEqual([true, true]);
          await store.put(responseOf(account, randomUUID(), 700));
        }
      };
      await Promise.all(stores.map(use));
      const { rows } = await pool.query(
        `select bytes::int, (select sum(bytes)::int from strict.response where account = $1) as sum
       from strict.response_account where id = $1`,
        [account],
      );
      expect(rows).toEqual([{ bytes: 30 * 700, sum: 30 * 700 }]);
      await Promise.all(stores.map((store) => store.forget(account)));
      expect(await counts("strict")).toEqual([0, 0, 0]);
      await Promise.all(pools.map((each) => each.end()));
    },
  );
});
