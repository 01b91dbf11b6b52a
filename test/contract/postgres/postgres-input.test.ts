import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, expect, it, vi } from "vitest";
import { capBounds, windowLimits } from "../../../src/ledger/calendar.js";
import { type Lease, LedgerInputError } from "../../../src/ledger/credit-ledger.js";
import { postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { describeWithPostgres } from "../../support/postgres-server.js";

const credits = { session: null, week: null, month: null };
const limits = () => windowLimits({ credits, sessionMs: 3_600_000, now: Date.now() });
const request = (account: string, id: string = randomUUID()) => ({
  id,
  account,
  amountMicro: 10,
  limits: limits(),
  leaseMs: 60_000,
});

const cap = { id: "c", window: "total", limitMicro: 9, bounds: capBounds("total", undefined, Date.now()) } as const;
const rate = { id: "r", kind: "tokens", take: 1, limit: 9, burst: 9 } as const;

/** What JSON takes and PostgreSQL does not. */
const unstorable = ["a\0b", "\ud800", "\udc00\ud800"];

describeWithPostgres("PostgreSQL, input", (server) => {
  let pool: pg.Pool;
  let stores: ReturnType<typeof postgresStores>;
  let lease: Lease;

  beforeAll(async () => {
    pool = new pg.Pool({ connectionString: server.url });
    stores = postgresStores({ pool });
    const result = await stores.ledger.reserve(request("a"));
    if (!result.ok) throw new Error("Nothing is limited here.");
    lease = result.lease;
  });
  afterAll(() => pool.end());

  it.each(unstorable)("names no rate, and loses no charge: %j", async (text) => {
    const { ledger } = stores;
    const result = await ledger.reserve({ ...request("used"), rates: [rate] });
    if (!result.ok) throw new Error("Nothing is used up here.");
    const uses = [{ id: text, actual: 1 }];
    expect(await ledger.renew([{ lease: result.lease, observedMicro: 1, leaseMs: 60_000, rates: uses }])).toEqual([
      "renewed",
    ]);
    expect((await ledger.settle(result.lease, { amountMicro: 1, rates: uses })).status).toBe("settled");
  });

  it.each(unstorable)("is refused where it names something: %j", async (text) => {
    const { ledger, keys, plans } = stores;
    const grant = { ...request("a"), window: "week" as const };
    for (const call of [
      () => ledger.reserve(request(text)),
      () => ledger.reserve(request("a", text)),
      () => ledger.settle({ ...lease, id: text }, { amountMicro: 1 }),
      () => ledger.release({ ...lease, account: text }),
      () => ledger.renew([{ lease: { ...lease, id: text }, observedMicro: 1, leaseMs: 1_000 }]),
      () => ledger.balance(text, limits()),
      () => ledger.grant({ ...grant, account: text }),
      () => ledger.reset(text, ["week"]),
      async () => ledger.topUp?.({ id: text, account: "a", amountMicro: 1 }),
      () => ledger.reserve({ ...request("a"), caps: [{ ...cap, id: text }] }),
      () => ledger.balance("a", limits(), { rates: [{ ...rate, id: text }] }),
      () => ledger.settle({ ...lease, caps: [{ ...cap, id: text, start: 0, end: 1 }] }, { amountMicro: 1 }),
      async () => ledger.history?.({ account: text }),
      () => ledger.forget(text),
    ]) {
      await expect(call()).rejects.toBeInstanceOf(LedgerInputError);
    }
    expect(await keys.find(text)).toBeUndefined();
    expect(await keys.get(text)).toBeUndefined();
    expect(await keys.list(text)).toEqual([]);
    expect(await keys.update(text, { name: "x" })).toBeUndefined();
    expect(await keys.forget(text)).toEqual([]);
    expect(await plans.find(text)).toBeUndefined();
    await expect(plans.put({ id: text, models: [] })).rejects.toBeInstanceOf(Error);
  });

  it("is cleaned where a charge is filed under it: no charge is lost for that", async () => {
    const { ledger } = stores;
    const account = randomUUID();
    const result = await ledger.reserve(request(account));
    if (!result.ok) throw new Error("Nothing is limited here.");
    const tags = { "a\0b": "c\0d", "\ud800": "\udc00", model: "m", none: Number.NaN, n: 1e300, o: {} as string };
    expect((await ledger.settle(result.lease, { amountMicro: 3, tags })).status).toBe("settled");
    expect((await ledger.history?.({ account }))?.entries).toMatchObject([
      { amountMicro: 3, tags: { "a\ufffdb": "c\ufffdd", "\ufffd": "\ufffd", model: "m", n: 1e300 } },
    ]);
  });

  it("is refused when an id is too long for an index, and taken when it is not", async () => {
    const { ledger } = stores;
    const longest = "\uffee".repeat(256);
    expect((await ledger.reserve(request("\u{1f600}".repeat(64), longest))).ok).toBe(true);
    await expect(ledger.reserve(request("a", `${longest}a`))).rejects.toBeInstanceOf(LedgerInputError);
  });

  it("is refused when a lease or bounds are not in whole milliseconds", async () => {
    const { ledger } = stores;
    for (const time of [Number.NaN, 0.5, 2 ** 53, "1; drop schema infergate" as unknown as number]) {
      const forged = { ...lease, starts: { ...lease.starts, week: time } };
      await expect(ledger.settle(forged, { amountMicro: 1 })).rejects.toBeInstanceOf(LedgerInputError);
      await expect(ledger.settle({ ...lease, expiresAt: time }, { amountMicro: 1 })).rejects.toBeInstanceOf(
        LedgerInputError,
      );
      const { week, ...others } = limits();
      const bounds = [time, ...week.bounds.slice(1)] as unknown as typeof week.bounds;
      const wrong = { ...request("a"), limits: { ...others, week: { ...week, bounds } } };
      await expect(ledger.reserve(wrong)).rejects.toBeInstanceOf(LedgerInputError);
    }
    const { starts: _, ...bare } = lease;
    await expect(ledger.settle(bare as Lease, { amountMicro: 1 })).rejects.toBeInstanceOf(LedgerInputError);
    const since = { amountMicro: 1, mayBeDuplicateSince: Number.NaN };
    expect((await ledger.settle(lease, since)).status).toBe("settled");
  });

  it.each([
    ...[`${2 ** 53}-${"9".repeat(19)}`, "1-2", `-1-${"0".repeat(19)}`],
    ...["9223372036854775808", "1-9223372036854775808", `9223372036854775808-${"0".repeat(19)}`],
    ...[`${2 ** 53}-${"0".repeat(19)}`, `1-${String(2 ** 53).padStart(19, "0")}`],
  ])("is refused as a cursor, and the database not asked: %j", async (cursor) => {
    const query = vi.spyOn(pool, "query");
    await expect(stores.ledger.history?.({ account: "a", cursor })).rejects.toBeInstanceOf(LedgerInputError);
    expect(query).not.toHaveBeenCalled();
    query.mockRestore();
  });

  it("is read the same, whatever the host makes of the types of its own tables", async () => {
    const text = 25;
    const types = {
      getTypeParser: (oid: number) => (value: string) => {
        if (oid !== text) throw new Error(`A value of the type ${oid}.`);
        return value;
      },
    };
    const strict = new pg.Pool({ connectionString: server.url, types: types as unknown as pg.CustomTypesConfig });
    const { ledger, keys, plans } = postgresStores({ pool: strict });
    const result = await ledger.reserve({ ...request(randomUUID()), amountMicro: Number.MAX_SAFE_INTEGER });
    if (!result.ok) throw new Error("Nothing is limited here.");
    const { lease: large } = result;
    const { windows } = await ledger.settle(large, { amountMicro: Number.MAX_SAFE_INTEGER });
    expect([large.amountMicro, windows.month.usedMicro]).toEqual([Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER]);
    expect((await ledger.history?.({ account: large.account }))?.entries).toHaveLength(1);
    const key = { id: randomUUID(), hash: randomUUID(), hint: "sk-…", account: "a", plan: "p", createdAt: 2 ** 53 - 1 };
    await keys.insert(key);
    expect(await keys.update(key.id, {})).toEqual(key);
    await plans.put({ id: "p", models: [] });
    expect(await plans.find("p")).toEqual({ id: "p", models: [] });
    await ledger.forget(large.account);
    await strict.end();
  });
});
