import { Buffer } from "node:buffer";
import { describe, expect, it, onTestFinished } from "vitest";
import { chatRequest, smallModel, startTestGateway } from "../support/test-gateway.js";

/** A gateway whose provider's bodies yield these pieces, which need not be bytes. */
async function gatewayOf(pieces: readonly unknown[], model: object = {}, waiting?: () => void) {
  const body = (async function* () {
    yield* pieces;
    if (waiting === undefined) return;
    waiting();
    await new Promise(() => {});
  })();
  const provider = { call: async () => ({ status: 200, headers: {}, body: body as AsyncIterable<Uint8Array> }) };
  const test = await startTestGateway({
    models: [{ ...smallModel, ...model, upstream: { provider: "own", model: "m" } }],
    providers: { own: provider },
  });
  onTestFinished(() => test.close());
  return test;
}

describe("A body of a host's own provider", () => {
  it.each([
    ["text", ["{", "}"]],
    ["nothing", [undefined, undefined]],
    ["numbers", [1, 2]],
    ["bytes behind text", ["{", Buffer.from("}")]],
  ])("fails the call alone where it is %s", async (_, pieces) => {
    const test = await gatewayOf(pieces);
    const response = await test.gateway.handler(chatRequest());
    expect(response.status).toBeGreaterThanOrEqual(500);
    expect(test.events).toMatchObject([{ endReason: "upstream_failed" }]);
  }, 5_000);

  it.each([
    ["text", ["{", "}"]],
    ["lists", [["{"], [1]]],
  ])("fails the call alone where it is %s and the client leaves", async (_, pieces) => {
    const client = new AbortController();
    const test = await gatewayOf(pieces, { disconnect: "cancel" }, () => client.abort());
    const response = await test.gateway.handler(new Request(chatRequest(), { signal: client.signal }));
    expect(response.status).toBe(499);
    expect(test.events).toMatchObject([{ endReason: "client_gone" }]);
  }, 5_000);
});
