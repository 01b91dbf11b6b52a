import type { LoggedRequest } from "../../books/requests/logged-request.js";
import type { RequestCounts } from "../../books/requests/request-log.js";
import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { failed, type RequestLogFixture, type RequestLogRulesInput, refused } from "./request-log-fixture.js";

const minute = 60_000;

/** What counts as a refusal and as a failure, and by what both are counted. */
export function describeCounts({ describe, it, fixture }: RequestLogRulesInput): void {
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
