import { expect, it, onTestFinished } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import {
  type ClosingServer,
  closesSecond,
  startClosingServer,
  streamedResponse,
  wholeResponse,
} from "../../support/closing-server.js";
import { nextRound } from "../../support/providers/provider-harness.js";
import { chatRequest, smallModel, startTestGateway } from "../../support/test-gateway.js";

/** A gateway with a model at these servers, in their order. */
async function startGateway(servers: readonly ClosingServer[]) {
  const providers = servers.map(({ baseURL }, index) => [`p${index}`, openAICompatible({ baseURL })] as const);
  const upstream = providers.map(([provider]) => ({ provider, model: "m" }));
  const test = await startTestGateway({
    models: [{ ...smallModel, upstream }],
    providers: Object.fromEntries(providers),
  });
  onTestFinished(() => test.close());
  const call = async (body: Record<string, unknown> = {}) => {
    const done = test.nextEvent();
    const response = await test.gateway.handler(chatRequest(body));
    const text = await response.text();
    const { attempts } = await done;
    await nextRound();
    return { status: response.status, text, attempts: attempts.length };
  };
  return { ...test, call };
}

it.each(["fin", "rst"] as const)(
  "an upstream that closes each kept connection by %s fails no call of 50",
  async (how) => {
    const reacts = { whole: closesSecond(how, wholeResponse()), streamed: closesSecond(how, streamedResponse()) };
    for (const [kind, react] of Object.entries(reacts)) {
      const server = await startClosingServer(react);
      const { call, gateway, warnings } = await startGateway([server]);
      for (let count = 0; count < 50; count++) {
        const { status, text, attempts } = await call({ stream: kind === "streamed" });
        expect([status, text.includes("Hi"), attempts]).toEqual([200, true, 1]);
      }
      expect({ ...server }).toMatchObject({ served: 50, received: 99, sockets: 50 });
      expect(warnings).toEqual([]);
      expect(gateway.health().models[smallModel.id]?.targets).toMatchObject([
        { state: "closed", answered: 50, failed: 0 },
      ]);
    }
  },
);

it("a new connection that is reset is a 502 of a single target, and another one is tried where there is one", async () => {
  const resets = await startClosingServer(() => "rst");
  const serves = await startClosingServer(() => wholeResponse());
  const alone = await startGateway([resets]);
  expect(await alone.call()).toMatchObject({ status: 502, attempts: 1 });
  expect(resets.received).toBe(1);
  const two = await startGateway([resets, serves]);
  expect(await two.call()).toMatchObject({ status: 200, attempts: 2 });
  expect([resets.received, serves.served]).toEqual([2, 1]);
});
