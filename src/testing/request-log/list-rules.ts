import type { RequestQuery } from "../../books/requests/request-log.js";
import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { failed, type RequestLogRulesInput, refused } from "./request-log-fixture.js";

/** What lists find, in which order. */
export function describeLists({ describe, it, fixture }: RequestLogRulesInput): void {
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
