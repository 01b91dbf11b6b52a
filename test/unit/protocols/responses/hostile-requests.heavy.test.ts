import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type GatewayError, isGatewayError } from "../../../../src/errors/gateway-error.js";
import { exchangeOf } from "../../../support/operations/responses/exchange-of.js";
import {
  bothServers,
  nativeServer,
  type SampleServer,
} from "../../../support/operations/responses/response-samples.js";
import { hostileRequests } from "./hostile-requests.js";

/** What a server of that kind gets, or why the request is refused. */
async function send(body: string, kind: SampleServer): Promise<string | GatewayError> {
  try {
    return Buffer.from((await exchangeOf(kind, body)).body).toString();
  } catch (error) {
    if (isGatewayError(error)) return error;
    throw error;
  }
}

/** These were 500s. */
const examples: [string][] = [
  ['{"model":"acme/small","input":"Hi","constructor":1}'],
  ['{"model":"acme/small","input":"Hi","tool_choice":{"type":"function","name":{"toString":""}}}'],
];

/** Names that a translation writes, and no client of this API. */
const chatWords = ["messages", "response_format", "max_completion_tokens", "reasoning_effort", "logprobs", "verbosity"];

const runs = Number(process.env["FC_RUNS"] ?? 1000);

describe("whatever a request holds", () => {
  it.each(bothServers)("$name gets JSON, or the client a 400", async (kind) => {
    let passed = 0;
    await fc.assert(
      fc.asyncProperty(hostileRequests, async (body) => {
        const sent = await send(body, kind);
        if (typeof sent === "string") {
          passed++;
          expect(JSON.parse(sent)).toMatchObject({ model: "up" });
          return;
        }
        expect(sent.status).toBe(400);
        // In the client's own words, and in no other API's.
        const param = String(sent.param ?? "input");
        expect(chatWords.filter((name) => param.startsWith(name) && !(name in JSON.parse(body)))).toEqual([]);
        expect(param).not.toMatch(/[.]function|[.]tool_calls/);
      }),
      { numRuns: runs, examples },
    );
    // Else the requests would be too bad to try anything.
    expect(passed).toBeGreaterThan(runs / 20);
  });

  it("JSON that is cut, or has a byte too many, is a 400", async () => {
    const damage = fc.record({ at: fc.nat(), byte: fc.nat(255), isCut: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(hostileRequests, damage, async (body, { at, byte, isCut }) => {
        const bytes = Buffer.from(body, "utf8");
        const place = at % bytes.length;
        const damaged = isCut ? bytes.subarray(0, place) : Buffer.from(bytes).fill(byte, place, place + 1);
        const sent = await send(damaged.toString("latin1"), nativeServer);
        if (typeof sent !== "string") expect(sent.status).toBe(400);
      }),
      { numRuns: runs },
    );
  });
});
