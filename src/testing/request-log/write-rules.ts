import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { RequestLogFixture, type RequestLogRulesInput, readLog, refused } from "./request-log-fixture.js";

const day = 86_400_000;

/** What is written, for how long it is kept, and how it is forgotten. */
export function describeWrites({ describe, it, fixture, make }: RequestLogRulesInput): void {
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
