import { afterAll, describe, expect, it } from "vitest";
import { expectNoSockets } from "../../e2e/clients/start-server.js";
import { chatTarget, nativeTarget } from "../../support/operations/messages/message-samples.js";
import { postMessage, startMessages } from "../../support/operations/messages/messages-server.js";
import { nativeServer } from "../../support/operations/responses/response-samples.js";
import { startResponses } from "../../support/operations/responses/responses-server.js";
import { mostRealTokens } from "../../support/real-tokenizers.js";
import { smallModel } from "../../support/test-gateway.js";
import { responseTexts } from "../../support/text-samples.js";

afterAll(expectNoSockets);

const models = [{ ...smallModel, maxOutputTokens: 100_000 }];
const body = { max_tokens: 100_000 };

describe.each([
  ["a chat completion", chatTarget],
  ["a message", nativeTarget],
])("%s that nobody has counted", (_name, target) => {
  it.each(Object.entries(responseTexts))(
    "costs at least the tokens that any model wrote for %s",
    async (_kind, text) => {
      const server = await startMessages(target, { models });
      const { tokens } = mostRealTokens(text);
      for (const stream of [false, true]) {
        server.upstream.replyOnce(target[stream ? "stream" : "whole"]({ text, isUncounted: true }));
        await (await postMessage(server.baseURL, { ...body, stream })).text();
        const event = server.events.at(-1);
        expect(event).toMatchObject({ endReason: "completed", usageSource: "estimated" });
        expect(event?.tokens.output).toBeGreaterThanOrEqual(tokens);
        expect(event?.chargedMicro).toBeLessThanOrEqual(event?.heldMicro ?? 0);
      }
      // What is held is the cap: no estimate is above it.
      server.upstream.replyOnce(target.whole({ text, isUncounted: true }));
      await (await postMessage(server.baseURL, { max_tokens: 50 })).text();
      expect(server.events.at(-1)).toMatchObject({ tokens: { output: 50 } });
      await server.checkBooks();
      await server.close();
    },
  );
});

it.each(Object.entries(responseTexts))(
  "a response of %s costs at least the tokens that any model wrote",
  async (_kind, text) => {
    const server = await startResponses(nativeServer, { models });
    for (const stream of [false, true]) {
      server.upstream.replyOnce(nativeServer[stream ? "stream" : "whole"]({ text, isUncounted: true }));
      await (await server.post({ stream, max_output_tokens: 100_000 })).text();
      expect(server.events.at(-1)?.tokens.output).toBeGreaterThanOrEqual(mostRealTokens(text).tokens);
    }
    await server.close();
  },
);
