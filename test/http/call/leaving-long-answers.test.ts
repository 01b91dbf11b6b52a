import { afterEach, expect, it } from "vitest";
import { type DirectResponse, toDirectProvider } from "../../../src/providers/direct-call.js";
import { chatAnswer } from "../../../src/testing.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

let test: TestGateway;
afterEach(() => test.close());

/** Longer than what is read in one go, and without a word of what it has used. */
const answer = Buffer.from(JSON.stringify(chatAnswer({ content: "word ".repeat(80_000), usage: null })));

/** What the client has to pay that leaves when all of a long answer has come, and is being read. */
async function billOf(comesWhole: boolean): Promise<unknown> {
  const leaving = new AbortController();
  const leave = () => setImmediate(() => leaving.abort());
  const body = (async function* () {
    yield answer;
    leave();
  })();
  const takeWhole = () => {
    leave();
    return answer;
  };
  const received: DirectResponse = { status: 200, headers: {}, body, ...(comesWhole && { takeWhole }) };
  const fake = toDirectProvider(
    {},
    async (_call, handover) => {
      handover?.handedOver();
      return received;
    },
    {},
  );
  test = await startTestGateway({ providers: { fake } });
  const completed = test.nextEvent();
  const request = new Request(chatRequest({ max_tokens: 1000 }), { signal: leaving.signal });
  const response = await test.gateway.handler(request);
  expect(response.status).toBe(499);
  const { status, endReason, usageSource, tokens, chargedMicro } = await completed;
  return { status, endReason, usageSource, tokens, chargedMicro };
}

it("costs what has come of it, whether it came whole or in pieces", async () => {
  const ofPieces = await billOf(false);
  await test.close();
  expect(ofPieces).toMatchObject({
    status: 499,
    endReason: "client_gone",
    usageSource: "partial",
    tokens: { output: 1000 },
  });
  expect(await billOf(true)).toEqual(ofPieces);
});
