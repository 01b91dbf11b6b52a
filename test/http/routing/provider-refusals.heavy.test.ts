import { afterEach, describe, expect, it } from "vitest";
import { GatewayError } from "../../../src/errors/gateway-error.js";
import type { Model } from "../../../src/gateway/models/model.js";
import { UpstreamError, type UpstreamProvider } from "../../../src/providers/upstream-provider.js";
import { chatAnswer, chatChunks } from "../../../src/testing.js";
import { chatRequest, smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

const encoder = new TextEncoder();

/** Where the provider of the host's throws. `late`: when the client has part of a stream. */
type Place = "call" | "error body" | "body" | "late";

/** One that throws what it is told to, and answers when it is told nothing. */
function refusing(place: Place) {
  const thrown: (Error | undefined)[] = [];
  let calls = 0;
  const provider: UpstreamProvider = {
    async call({ stream }) {
      calls++;
      const error = thrown.shift();
      if (error !== undefined && place === "call") throw error;
      return {
        status: error !== undefined && place === "error body" ? 500 : 200,
        headers: {},
        body: body(stream, error),
      };
    },
  };
  async function* body(stream: boolean, error: Error | undefined) {
    const pieces = stream
      ? [...chatChunks("Hello").map((chunk) => `data: ${JSON.stringify(chunk)}\n\n`), "data: [DONE]\n\n"]
      : [JSON.stringify(chatAnswer())];
    for (const [index, piece] of pieces.entries()) {
      if (error !== undefined && (place !== "late" || index === 2)) throw error;
      yield encoder.encode(piece);
    }
    if (error !== undefined) throw error;
  }
  return { provider, thrown, calls: () => calls };
}

async function start(place: Place, model: Partial<Model>) {
  const [own, other] = [refusing(place), refusing(place)];
  const test = await startTestGateway({
    models: [{ ...smallModel, ...model }],
    providers: { own: own.provider, other: other.provider },
  });
  closers.push(() => test.close());
  return { ...test, own, other };
}

const alone = { upstream: { provider: "own", model: "m" } };
const several = {
  upstream: [
    { provider: "own", model: "m" },
    { provider: "other", model: "m" },
  ],
};
const models: [string, Partial<Model>][] = [
  ["one target", alone],
  ["one target with a breaker", { ...alone, breaker: { consecutiveFailures: 1 }, maxAttempts: 3 }],
  ["one target with a time-out", { upstream: { ...alone.upstream, timeoutMs: 60_000 }, maxAttempts: 3 }],
  ["several targets", { ...several, breaker: { consecutiveFailures: 1 }, maxAttempts: 5 }],
];
const refusal = (status: number) =>
  new GatewayError("Not you, not now.", {
    status,
    code: "own_rule",
    type: "own_type",
    headers: { "retry-after": "7" },
  });
const targetsOf = ({ gateway }: TestGateway) => gateway.health().models["acme/small"]?.targets ?? [];

describe.each(models)("with %s, a GatewayError that a provider throws", (_name, model) => {
  describe.each<Place>(["call", "error body", "body"])("from its %s", (place) => {
    it.each([400, 403, 429, 500, 502, 503, 504])(
      "is the client's answer, final, and no failure of the target's: %i",
      async (status) => {
        const test = await start(place, model);
        for (let round = 0; round < 6; round++) {
          test.own.thrown.push(refusal(status));
          const response = await test.gateway.handler(chatRequest({ stream: round % 2 === 1 }));
          expect(response.status).toBe(status);
          expect(response.headers.get("retry-after")).toBe("7");
          expect(await response.json()).toEqual({
            error: { message: "Not you, not now.", type: "own_type", param: null, code: "own_rule" },
          });
        }
        expect([test.own.calls(), test.other.calls()]).toEqual([6, 0]);
        expect(targetsOf(test)[0]).toMatchObject({ state: "closed", active: 0, answered: 0, failed: 0 });
        expect(test.events).toHaveLength(6);
        for (const event of test.events) {
          expect(event).toMatchObject({ endReason: "upstream_refused", errorCode: "own_rule", chargedMicro: 0 });
          expect(event.attempts).toHaveLength(1);
        }
        const next = await test.gateway.handler(chatRequest());
        expect(next.status).toBe(200);
        expect([test.own.calls(), test.other.calls()]).toEqual([7, 0]);
      },
    );
  });

  it.each([429, 502, 503])("in the middle of a stream ends it in its own words: %i", async (status) => {
    const test = await start("late", model);
    test.own.thrown.push(refusal(status));
    const response = await test.gateway.handler(chatRequest({ stream: true }));
    expect(response.status).toBe(200);
    const events = (await response.text()).split("\n\n").filter((event) => event.startsWith("data: "));
    expect(events.at(-1)).toContain('"message":"Not you, not now.","type":"own_type","param":null,"code":"own_rule"');
    expect(targetsOf(test)[0]).toMatchObject({ state: "closed", active: 0, answered: 0, failed: 0 });
  });
});

describe("what is no such answer", () => {
  it.each<Place>(["call", "body"])("fails over, and counts, when thrown from the %s", async (place) => {
    const test = await start(place, { ...several, breaker: { consecutiveFailures: 2 } });
    for (const error of [new Error("bug"), new UpstreamError("unreachable", "refused")]) {
      test.own.thrown.push(error);
      expect((await test.gateway.handler(chatRequest())).status).toBe(200);
    }
    expect([test.own.calls(), test.other.calls()]).toEqual([2, 2]);
    expect(targetsOf(test)[0]).toMatchObject({ state: "open", failed: 2 });
  });

  it("leaves the trial of an open breaker to another call", async () => {
    let now = 1_000_000;
    const own = refusing("call");
    const test = await startTestGateway({
      models: [{ ...smallModel, ...alone, breaker: { consecutiveFailures: 1, openMs: 1000 } }],
      providers: { own: own.provider },
      clock: { now: () => now },
    });
    closers.push(() => test.close());
    own.thrown.push(new UpstreamError("unreachable", "refused"), refusal(429));
    expect((await test.gateway.handler(chatRequest())).status).toBe(502);
    now += 1000;
    expect((await test.gateway.handler(chatRequest())).status).toBe(429);
    expect(targetsOf(test)[0]).toMatchObject({ state: "half_open", active: 0 });
    expect((await test.gateway.handler(chatRequest())).status).toBe(200);
    expect(targetsOf(test)[0]).toMatchObject({ state: "closed" });
  });
});
