import { ChatAnthropic } from "@langchain/anthropic";
import { AIMessageChunk, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { collect } from "../../../e2e/clients/collect.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { bothTargets } from "../../../support/operations/messages/message-samples.js";
import { type MessagesServer, withMessages } from "../../../support/operations/messages/messages-server.js";

afterAll(expectNoSockets);

const weather = tool(async ({ city }) => `sunny in ${city}`, {
  name: "weather",
  description: "The weather in a city.",
  schema: z.object({ city: z.string() }),
});
const calls = [{ id: "toolu_1", name: "weather", arguments: '{"city":"Rome"}' }];

function clientOf({ origin }: MessagesServer, model = "acme/small"): ChatAnthropic {
  return new ChatAnthropic({ model, anthropicApiUrl: origin, apiKey: "sk-pro", maxTokens: 50, maxRetries: 0 });
}

describe.each(bothTargets)("ChatAnthropic, in front of $name,", (target) => {
  it(
    "reads whole messages and streams",
    withMessages(target, async (server) => {
      const whole = await clientOf(server).invoke("Say hello.");
      expect(whole.text).toBe("Hello world");
      expect(whole.usage_metadata).toMatchObject({ input_tokens: 9, output_tokens: 3 });
      const chunks = await collect(await clientOf(server).stream("Say hello."));
      const streamed = chunks.reduce((one, other) => one.concat(other), new AIMessageChunk(""));
      expect(streamed.text).toBe("Hello world");
      // It adds what the beginning says to what the end says.
      expect(streamed.usage_metadata).toMatchObject({ output_tokens: 1 + 3 });
      expect(server.events).toMatchObject([{ chargedMicro: 39 }, { chargedMicro: 39 }]);
    }),
  );

  it(
    "calls tools, whole and as a stream, and goes on with their results",
    withMessages(target, async (server) => {
      const bound = clientOf(server).bindTools([weather]);
      server.upstream.replyOnce(target.whole({ calls }));
      const whole = await bound.invoke("How is the weather in Rome?");
      expect(whole.tool_calls).toMatchObject([{ id: "toolu_1", name: "weather", args: { city: "Rome" } }]);
      server.upstream.replyOnce(target.stream({ calls }));
      const chunks = await collect(await bound.stream("How is the weather in Rome?"));
      const streamed = chunks.reduce((one, other) => one.concat(other), new AIMessageChunk(""));
      expect(streamed.tool_calls).toMatchObject([{ id: "toolu_1", name: "weather", args: { city: "Rome" } }]);
      for (const called of [whole, streamed]) {
        const result = new ToolMessage({ tool_call_id: "toolu_1", content: "sunny" });
        const answer = await bound.invoke([new HumanMessage("How is it?"), called, result]);
        expect(answer.text).toBe("Hello world");
        expect(server.upstream.lastRequest.body.toString()).toMatch(/"tool(_use|_call)_id":"toolu_1"/);
      }
    }),
  );

  it(
    "throws what was refused, and where a stream breaks off",
    withMessages(target, async (server) => {
      await expect(clientOf(server, "none").invoke("Hi")).rejects.toMatchObject({ status: 404 });
      server.upstream.reply(target.stream({ isBroken: true }, { end: "cut" }));
      await expect(clientOf(server).stream("Hi").then(collect)).rejects.toThrow(/broke off/);
    }),
  );
});
