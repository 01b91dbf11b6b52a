import fc from "fast-check";
import Database from "libsql";
import { expect, it } from "vitest";
import type { LoggedRequest, RequestLog, RequestQuery } from "../../../src/request-log/request-log.js";
import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import { sqliteRequestLog } from "../../../src/stores/sqlite/sqlite-request-log.js";
import { RequestLogFixture } from "../../../src/testing/request-log/request-log-fixture.js";

const makers: Record<string, () => RequestLog> = {
  "in memory": () => memoryRequestLog(),
  "in SQLite": () => sqliteRequestLog({ database: new Database(":memory:") }),
};

/** Few values of each member, so that lines stand at the same moment and are alike. */
const line = fc.record({
  after: fc.nat(3),
  id: fc.constantFrom("a", "A", "_", "-", "1", "10", "2"),
  account: fc.constantFrom("one", "other"),
  keyId: fc.constantFrom("key_1", "key_2"),
  member: fc.option(fc.constantFrom("42", "7"), { nil: undefined }),
  status: fc.constantFrom(200, 404, 429, 502),
});

const query = fc.record(
  {
    account: fc.constantFrom("one", "other"),
    key: fc.constantFrom("key_1", "key_2"),
    tag: fc.constantFrom("42", "7").map((member) => ({ member })),
    status: fc.constantFrom<RequestQuery["status"]>(200, "4xx", ["5xx", 404]),
    from: fc.nat(4),
    to: fc.nat(4),
  },
  { requiredKeys: [] },
);

/** What a page has to do with a line, in the words of the contract alone. */
function isAsked({ account, key, tag, status, from, to }: RequestQuery, line: LoggedRequest): boolean {
  const classes = status === undefined ? undefined : [status].flat();
  return (
    (account === undefined || line.account === account) &&
    (key === undefined || line.keyId === key) &&
    (tag === undefined || line.tags?.["member"] === tag["member"]) &&
    (classes === undefined ||
      classes.some((each) => each === line.status || each === `${Math.floor(line.status / 100)}xx`)) &&
    (from === undefined || line.startedAt >= Number(from)) &&
    (to === undefined || line.startedAt < Number(to))
  );
}

function isSamePlace(one: LoggedRequest, other: LoggedRequest): boolean {
  return one.startedAt === other.startedAt && one.lineId === other.lineId;
}

function newestFirst(one: LoggedRequest, other: LoggedRequest): number {
  if (one.startedAt !== other.startedAt) return other.startedAt - one.startedAt;
  return one.lineId < other.lineId ? 1 : -1;
}

const given = fc.record({ lines: fc.array(line, { maxLength: 20 }), query, limit: fc.integer({ min: 1, max: 5 }) });

it.each(Object.entries(makers))("pages have each line once, newest first, while others come: %s", async (_, make) => {
  const property = fc.asyncProperty(given, async ({ lines, query: { from, to, ...query }, limit }) => {
    const log = make();
    const fixture = new RequestLogFixture(log);
    const { begin } = fixture;
    const asked: RequestQuery = {
      ...query,
      ...(from !== undefined && { from: begin + from }),
      ...(to !== undefined && { to: begin + to }),
    };
    const written = lines.map(({ after, id, member, ...rest }) =>
      fixture.make({ ...rest, startedAt: begin + after, lineId: id, ...(member && { tags: { member } }) }),
    );
    await log.write(written);
    const found: LoggedRequest[] = [];
    for (let cursor: string | undefined; ; ) {
      const page = await log.list({ ...asked, limit, cursor });
      expect(page.requests.length).toBeLessThanOrEqual(limit);
      found.push(...page.requests);
      cursor = page.cursor;
      if (cursor === undefined) break;
      // What comes now is newer than all, and on no page that follows.
      await log.write([fixture.make({ startedAt: begin + 100, account: "one" })]);
    }
    // Of one place, the first line stays.
    const isFirst = (each: LoggedRequest, at: number) => written.findIndex((one) => isSamePlace(one, each)) === at;
    expect(found).toEqual(written.filter((each, at) => isFirst(each, at) && isAsked(asked, each)).sort(newestFirst));
  });
  await fc.assert(property, { numRuns: 100 });
});

it("reads 5,000 lines for a page at most, and goes on where it has stopped", async () => {
  const log = memoryRequestLog({ maxRows: 20_000 });
  const fixture = new RequestLogFixture(log);
  const [rare] = await fixture.write({ model: "rare" });
  for (let batch = 0; batch < 11; batch++) await fixture.write(...Array.from({ length: 1_000 }, () => ({})));
  const found: number[] = [];
  let cursor: string | undefined;
  do {
    const page = await log.list({ model: "rare", cursor });
    found.push(page.requests.length);
    cursor = page.cursor;
    if (page.requests.length > 0) expect(page.requests).toEqual([rare]);
  } while (cursor !== undefined);
  expect(found).toEqual([0, 0, 1]);
});
