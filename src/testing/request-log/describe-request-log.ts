import type { LoggedRequest, RequestCounts, RequestQuery } from "../../request-log/request-log.js";
import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { type TestRunner, testRunnerOf } from "../test-runner.js";
import {
  failed,
  type MakeRequestLog,
  RequestLogFixture,
  type RequestLogRulesInput,
  readLog,
  refused,
  requestLogFixtures,
} from "./request-log-fixture.js";

/**
 * Defines the tests that every {@link RequestLog} must pass: lists and their filters, counts, bounds, forgetting.
 *
 * @param make - makes a log with the limits, and with a clock that shows the time of today. It need not be empty: accounts
 *   are unique. One of few rows may share its lines with others, and lets them go.
 */
export function describeRequestLog(name: string, make: MakeRequestLog, runner: TestRunner = {}): void {
  const { describe, it } = testRunnerOf(runner);
  const input = { describe, it, make, fixture: requestLogFixtures(make) };
  describe(`${name}: the request log contract`, () => {
    describeLists(input);
    describeWrites(input);
    describeCounts(input);
  });
}

const day = 86_400_000;

/** What is written, for how long it is kept, and how it is forgotten. */
function describeWrites({ describe, it, fixture, make }: RequestLogRulesInput): void {
  describe("write", () => {
    it("has no second effect when it is repeated", async () => {
      const log = await fixture();
      const lines = await log.write({ ...refused, tags: { member: "42" } }, {});
      await log.log.write([...lines, log.make()]);
      expect(await log.ids()).toHaveLength(3);
      expect(await log.ids({ tag: { member: "42" } })).toHaveLength(1);
      const request = { periods: [log.begin, log.begin + 60_000], by: [], where: { account: [log.account] } };
      expect(await log.log.counts(request)).toEqual([{ period: 0, by: [], refusals: 1, failures: 0 }]);
    });

    it("adds a line once that a batch has twice", async () => {
      const log = await fixture();
      const line = log.make({ ...refused, tags: { member: "42" } });
      await log.log.write([line, log.make(), line]);
      expect(await log.ids()).toHaveLength(2);
      const request = { periods: [log.begin, log.begin + 60_000], by: [], where: { account: [log.account] } };
      expect(await log.log.counts(request)).toEqual([{ period: 0, by: [], refusals: 1, failures: 0 }]);
    });

    it("takes nothing, a batch of a thousand, and not more", async () => {
      const log = await fixture();
      await log.log.write([]);
      const batch = Array.from({ length: 1_000 }, () => log.make());
      await log.log.write(batch);
      expect(await log.ids({ limit: 1_000 })).toHaveLength(1_000);
      await expect(log.log.write([...batch, log.make()])).rejects.toBeInstanceOf(TypeError);
    });

    it("refuses a batch with a line that is not valid, and keeps nothing of it", async () => {
      const log = await fixture();
      for (const wrong of [
        { lineId: "a b" },
        { startedAt: 0.5 },
        { account: "a\0b" },
        { count: 0 },
        { tags: { a: "" } },
      ]) {
        await expect(log.write({}, wrong)).rejects.toBeInstanceOf(TypeError);
      }
      expect(await log.ids()).toEqual([]);
    });
  });

  describe("bounds", () => {
    it("let the oldest go beyond so many rows", async () => {
      const log = await fixture();
      const small = await make({ maxRows: 5 });
      let [last, kept] = ["", 6];
      // What others have written goes as well, some of it with each batch.
      for (let batch = 0; (batch < 4 || kept > 5) && batch < 1_000; batch++) {
        const lines = [0, 1, 2].map((more) => log.make({ startedAt: log.begin + 1_200_000 + 3 * batch + more }));
        await small.write(lines);
        last = lines[2]?.requestId ?? "";
        kept = (await small.list({ limit: 6 })).requests.length;
      }
      expect(kept).toBeLessThanOrEqual(5);
      expect(kept).toBeGreaterThan(0);
      expect((await small.list({ account: log.account, limit: 1 })).requests[0]?.requestId).toBe(last);
    });

    it("let go what is too old, and all that led to it", async () => {
      const log = await fixture();
      const [old, member] = [log.begin - 40 * day, unique("42")];
      const short = await make({ maxDays: 30, countDays: 35 });
      const lines = [old, old + 1].map((startedAt) => log.make({ ...refused, startedAt, tags: { member } }));
      await short.write(lines);
      for (let batch = 0; batch < 3; batch++) await short.write([log.make()]);
      expect(await readLog(short, { account: log.account })).toHaveLength(3);
      expect(await readLog(short, { account: log.account, tag: { member } })).toEqual([]);
      expect(await short.get(lines[0]?.requestId ?? "")).toBeUndefined();
      const request = { periods: [old - day, log.begin], by: [], where: { account: [log.account] } };
      expect(await short.counts(request)).toEqual([]);
    });

    it("keep counts longer than lines", async () => {
      const log = await fixture();
      const old = log.begin - 40 * day;
      const short = await make({ maxDays: 30 });
      await short.write([log.make({ ...refused, startedAt: old })]);
      for (let batch = 0; batch < 3; batch++) await short.write([log.make()]);
      expect(await readLog(short, { account: log.account })).toHaveLength(3);
      const request = { periods: [old - day, log.begin], by: [], where: { account: [log.account] } };
      expect(await short.counts(request)).toEqual([{ period: 0, by: [], refusals: 1, failures: 0 }]);
    });

    it("are checked", async () => {
      for (const limits of [{ maxRows: 0 }, { maxDays: 0 }, { maxDays: 3_651 }, { countDays: 1.5 }]) {
        await expect((async () => make(limits))()).rejects.toBeInstanceOf(RangeError);
      }
    });
  });

  describe("forget", () => {
    it("deletes all of an account, and nothing of another one's", async () => {
      const log = await fixture();
      const other = new RequestLogFixture(log.log);
      const keyId = unique("key");
      const [mine] = await log.write({ ...refused, keyId, tags: { member: "42" } }, {}, {});
      const [theirs] = await other.write({ ...refused, tags: { member: "42" } });
      await log.log.forget(log.account);
      expect(await log.ids()).toEqual([]);
      expect(await log.ids({ tag: { member: "42" } })).toEqual([]);
      expect((await log.log.list({ key: keyId })).requests).toEqual([]);
      expect(await log.log.get(mine?.requestId ?? "")).toBeUndefined();
      expect(await other.ids({ tag: { member: "42" } })).toEqual([theirs?.requestId]);
      const periods = [log.begin, log.begin + 60_000];
      const where = { account: [log.account, other.account] };
      expect(await log.log.counts({ periods, by: ["account"], where })).toEqual([
        { period: 0, by: [other.account], refusals: 1, failures: 0 },
      ]);
      await log.log.forget(unique("unknown"));
    });

    it("is over when thousands are gone", async () => {
      const log = await fixture();
      for (let batch = 0; batch < 3; batch++) await log.log.write(Array.from({ length: 1_000 }, () => log.make()));
      await log.log.forget(log.account);
      expect(await log.ids()).toEqual([]);
    });
  });
}

/** What lists find, in which order. */
function describeLists({ describe, it, fixture }: RequestLogRulesInput): void {
  describe("lists", () => {
    it("have the newest first, by the arrival, whichever was written first", async () => {
      const log = await fixture();
      const [old] = await log.write({ startedAt: log.begin + 50 });
      const [late] = await log.write({ startedAt: log.begin + 10 });
      const [newest] = await log.write({ startedAt: log.begin + 90 });
      expect(await log.ids()).toEqual([newest?.requestId, old?.requestId, late?.requestId]);
    });

    it("give back a line as it was, without its texts", async () => {
      const log = await fixture();
      const texts = { request: '{"model":"a\u{1f600}"}', answer: "größer" };
      const tags = { team: "red", member: "o'neill/100%_\\" };
      const [line] = await log.write({ ...failed, tags, texts, keyId: "key", plan: "pro", model: "m", count: 3 });
      const { texts: _, ...rest } = line ?? log.make();
      expect((await log.log.list({ account: log.account })).requests).toEqual([rest]);
      expect(await log.log.get(rest.requestId)).toEqual(line);
    });

    it.each([1, 2, 3, 7])("have pages of %i", async (limit) => {
      const log = await fixture();
      // Several of one millisecond.
      const lines = await log.write(...[0, 0, 0, 1, 2, 2, 3].map((at) => ({ startedAt: log.begin + at })));
      const ids = await log.ids({ limit });
      expect(ids).toHaveLength(7);
      expect(new Set(ids)).toEqual(new Set(lines.map(({ requestId }) => requestId)));
      expect(await log.ids({ limit: 1_000 })).toEqual(ids);
    });

    it("list each line once while others come", async () => {
      const log = await fixture();
      const lines = await log.write({}, {}, {}, {}, {});
      const first = await log.log.list({ account: log.account, limit: 2 });
      await log.write({ startedAt: log.begin + 1_000 }, { startedAt: log.begin - 1 });
      const second = await log.log.list({ account: log.account, limit: 100, cursor: first.cursor });
      const ids = [...first.requests, ...second.requests].map(({ requestId }) => requestId);
      expect(ids.slice(0, 5)).toEqual(lines.map(({ requestId }) => requestId).reverse());
      expect(second.cursor).toBeUndefined();
    });

    it("have a beginning and an end in time", async () => {
      const log = await fixture();
      const lines = await log.write({}, {}, {}, {});
      const [, second, third] = lines.map(({ requestId }) => requestId);
      const range = { from: new Date(log.begin + 1), to: log.begin + 3 };
      expect(await log.ids(range)).toEqual([third, second]);
      expect(await log.ids({ ...range, limit: 1 })).toEqual([third, second]);
      expect(await log.ids({ from: log.begin + 4 })).toEqual([]);
      expect(await log.ids({ to: log.begin })).toEqual([]);
    });

    it("find by each filter, with the account and without", async () => {
      const log = await fixture();
      const [model, keyId, code, member] = [unique("model"), unique("key"), unique("code"), unique("42")];
      const alias = unique("alias");
      const target = `provider/${model}`;
      const [found] = await log.write(
        { ...failed, model, keyId, errorCode: code, target, tags: { member, team: "red" }, status: 504 },
        { model, requestedModel: alias, keyId, target, tags: { member, team: "blue" } },
        { ...refused },
        {},
      );
      const queries: readonly RequestQuery[] = [
        { code },
        { key: keyId, status: 504 },
        { model, status: ["4xx", 504] },
        { target, status: "5xx" },
        { tag: { member, team: "red" } },
      ];
      for (const query of queries) {
        expect(await log.ids(query)).toEqual([found?.requestId]);
        const range = { from: log.begin, to: log.begin + 4 };
        const page = await log.log.list({ ...query, ...range });
        expect(page.requests.map(({ requestId }) => requestId)).toEqual([found?.requestId]);
        expect(await log.ids({ ...query, account: unique("other") })).toEqual([]);
      }
      expect(await log.ids({ tag: { member } })).toHaveLength(2);
      expect(await log.ids({ model })).toHaveLength(2);
      expect(await log.ids({ model: alias })).toHaveLength(1);
      expect(await log.ids({ status: [200, "4xx"] })).toHaveLength(3);
      expect(await log.ids({ tag: { member: "red" } })).toEqual([]);
      expect(await log.ids({ tag: { toString: "x" } })).toEqual([]);
    });

    it.each([
      ...([
        ["'", '"'],
        ["%", "_"],
        ["a:b", "a:c"],
        ["}", "{"],
        ["ä", "a\u0308"],
        [" ", "\u00a0"],
        ["\\", "\\\\"],
      ] as const),
    ])("tell %j from %j", async (one, other) => {
      const log = await fixture();
      const [account, keyId] = [`${log.account}${one}`, `${unique("key")}${one}`];
      const [line] = await log.write({ account, keyId, requestId: `${unique("req")}${one}`, tags: { member: one } });
      const like = (text: string) => text.slice(0, text.length - one.length) + other;
      await log.write({ account: like(account), keyId: like(keyId), requestId: like(line?.requestId ?? "") });
      await log.write({ account, tags: { member: other } });
      const found = [line?.requestId];
      expect(await log.ids({ account, tag: { member: one } })).toEqual(found);
      expect(await log.ids({ account, key: keyId })).toEqual(found);
      expect((await log.log.get(line?.requestId ?? ""))?.lineId).toBe(line?.lineId ?? "");
    });

    it("are refused with what is not valid", async () => {
      const { log } = await fixture();
      const queries: readonly object[] = [
        { limit: 0 },
        { limit: 1_001 },
        { cursor: "next" },
        { status: "6xx" },
        { status: [] },
        { from: "yesterday" },
        { tag: "member" },
        { member: "42" },
      ];
      for (const query of queries) await expect(log.list(query)).rejects.toBeInstanceOf(TypeError);
    });
  });

  describe("get", () => {
    it("finds the newest line of an id", async () => {
      const log = await fixture();
      const requestId = unique("own");
      const [, newest] = await log.write({ requestId }, { requestId });
      expect(await log.log.get(requestId)).toEqual(newest);
      expect(await log.log.get(unique("unknown"))).toBeUndefined();
      expect(await log.log.get("\0")).toBeUndefined();
    });
  });
}

const minute = 60_000;

/** What counts as a refusal and as a failure, and by what both are counted. */
function describeCounts({ describe, it, fixture }: RequestLogRulesInput): void {
  describe("counts", () => {
    it.each([
      ["a refusal", refused, [1, 0]],
      ["a refusal that stands for five", { ...refused, count: 5 }, [5, 0]],
      ["a 503 without a call", { ...refused, status: 503, errorCode: "service_unavailable" }, [1, 0]],
      ["a failed call", failed, [0, 1]],
      ["a stream that broke off", { ...failed, status: 200, stream: true }, [0, 1]],
      ["a stream that the shutdown ended", { stream: true, endReason: "shutdown", errorCode: "shutdown" }, [0, 1]],
      ["a call that an upstream refused", { ...failed, status: 400, endReason: "upstream_refused" }, [0, 1]],
      [
        "a client that left in time",
        { ...failed, status: 499, errorCode: "client_gone", endReason: "client_gone" },
        [],
      ],
      ["a client that left a stream", { ...failed, status: 200, errorCode: "x", endReason: "client_gone" }, []],
      ["a client that left unheard", { ...refused, status: 499, errorCode: "client_gone" }, []],
      ["a success after a failed attempt", { attempts: [...(failed.attempts ?? []), ...(failed.attempts ?? [])] }, []],
      ["a list of models", { endpoint: "models", attempts: [] }, []],
    ] as readonly (readonly [string, Partial<LoggedRequest>, readonly number[]])[])("%s", async (_, line, expected) => {
      const log = await fixture();
      await log.write(line);
      const [refusals = 0, failures = 0] = expected;
      expect(await countsOf(log)).toEqual(expected.length === 0 ? [] : [{ period: 0, by: [], refusals, failures }]);
    });

    it("go by all dimensions", async () => {
      const log = await fixture();
      const [one, other] = [unique("42"), unique("7")];
      await log.write(
        {
          ...refused,
          plan: "pro",
          model: "id",
          requestedModel: "named",
          keyId: "k1",
          tags: { member: one, team: "red" },
        },
        { ...refused, plan: "pro", model: "id", keyId: "k2", tags: { member: other, team: "red" } },
        { ...failed, plan: "free", model: "id", tags: { member: other } },
        { ...failed },
        {},
      );
      const by = async (...names: string[]) =>
        (await countsOf(log, { by: names })).map((each) => [...each.by, each.refusals, each.failures]);
      expect(await by("account")).toEqual([[log.account, 2, 2]]);
      expect(await by("plan")).toEqual([
        [null, 0, 1],
        ["free", 0, 1],
        ["pro", 2, 0],
      ]);
      expect(await by("model")).toEqual([
        [null, 0, 1],
        ["id", 2, 1],
      ]);
      expect(await by("target")).toEqual([
        [null, 2, 0],
        ["openai/small", 0, 2],
      ]);
      expect(await by("key", "tag.team")).toEqual([
        [null, null, 0, 2],
        ["k1", "red", 1, 0],
        ["k2", "red", 1, 0],
      ]);
      expect(await by("tag.nobody", "funding")).toEqual([[null, null, 2, 2]]);
      const where = { account: [log.account], "tag.member": [other, null], plan: ["free", "pro"] };
      expect(await countsOf(log, { where })).toEqual([{ period: 0, by: [], refusals: 1, failures: 1 }]);
    });

    it("belong to the period in which their minute begins", async () => {
      const log = await fixture();
      const at = (ms: number): Partial<LoggedRequest> => ({ ...refused, startedAt: log.begin + ms });
      await log.write(at(-1), at(0), at(minute - 1), at(minute), at(5 * minute), at(6 * minute));
      const periods = [0, minute, 5 * minute, 6 * minute].map((ms) => log.begin + ms);
      const counts = await countsOf(log, { periods });
      expect(counts.map(({ period, refusals }) => [period, refusals])).toEqual([
        [0, 2],
        [1, 1],
        [2, 1],
      ]);
      const later = [log.begin + 1, log.begin + 2 * minute];
      expect((await countsOf(log, { periods: later })).map(({ refusals }) => refusals)).toEqual([1]);
    });

    it("count requests without an account", async () => {
      const log = await fixture();
      const model = unique("model");
      const { account: _, ...nobody } = log.make({ ...refused, status: 401, model });
      await log.log.write([nobody]);
      const where = { model: [model], account: [null] };
      expect(await countsOf(log, { where })).toEqual([{ period: 0, by: [], refusals: 1, failures: 0 }]);
    });
  });
}

function countsOf(
  log: RequestLogFixture,
  request: Partial<Parameters<RequestLogFixture["log"]["counts"]>[0]> = {},
): Promise<readonly RequestCounts[]> {
  const periods = [log.begin, log.begin + minute];
  return log.log.counts({ periods, by: [], where: { account: [log.account] }, ...request });
}
