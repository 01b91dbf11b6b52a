import { Agent, OpenAIResponsesModel, Runner, tool } from "@openai/agents";
import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { bothServers, type Said } from "../../../support/operations/responses/response-samples.js";
import { type ResponsesServer, withResponses } from "../../../support/operations/responses/responses-server.js";

afterAll(expectNoSockets);

const runner = new Runner({ tracingDisabled: true });

const weather = tool({
  name: "weather",
  description: "The weather in a city.",
  parameters: z.object({ city: z.string() }),
  execute: ({ city }) => `fine in ${city}`,
});

const asked: Said = { calls: [{ id: "call_1", name: "weather", arguments: '{"city":"Paris"}' }] };

function agentOf({ baseURL }: ResponsesServer): Agent {
  const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
  // The package has an older SDK of its own.
  const model = new OpenAIResponsesModel(client as never, "acme/small");
  return new Agent({ name: "Reporter", instructions: "Be brief.", model, tools: [weather] });
}

describe.each(bothServers)("OpenAI's agents, in front of $name,", (target) => {
  it(
    "end with a text",
    withResponses(target, async (server) => {
      const result = await runner.run(agentOf(server), "Hi");
      expect(result.finalOutput).toBe("Hello world");
      const { instructions, messages } = server.upstream.lastRequest.json;
      expect(instructions ?? messages[0].content).toBe("Be brief.");
    }),
  );

  it(
    "run their tools in a loop, and go on from it",
    withResponses(target, async (server) => {
      server.upstream.replyOnce(target.whole(asked));
      server.upstream.replyOnce(target.whole({ text: "All fine." }));
      const agent = agentOf(server);
      const result = await runner.run(agent, "Weather?");
      expect(result.finalOutput).toBe("All fine.");
      expect(JSON.stringify(server.upstream.lastRequest.json)).toContain("fine in Paris");
      const next = await runner.run(agent, [...result.history, { role: "user", content: "Thanks." }]);
      expect(next.finalOutput).toBe("Hello world");
      const { messages, input } = server.upstream.lastRequest.json;
      if (messages === undefined) {
        expect(input).toHaveLength(5);
      } else {
        expect(messages.map(({ role }: { role: string }) => role)).toEqual([
          "system",
          "user",
          "assistant",
          "tool",
          "assistant",
          "user",
        ]);
      }
    }),
  );

  it(
    "stream, tools included",
    withResponses(target, async (server) => {
      server.upstream.replyOnce(target.stream(asked));
      server.upstream.replyOnce(target.stream({ text: "All fine." }));
      const result = await runner.run(agentOf(server), "Weather?", { stream: true });
      let text = "";
      for await (const piece of result.toTextStream()) text += piece;
      await result.completed;
      expect(text).toBe("All fine.");
      expect(result.finalOutput).toBe("All fine.");
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([39, 39]);
    }),
  );

  it(
    "fail with a stream that breaks off",
    withResponses(target, async (server) => {
      server.upstream.reply(target.stream({ isBroken: true }, { end: "cut" }));
      const read = async () => {
        const result = await runner.run(agentOf(server), "Hi", { stream: true });
        for await (const _piece of result.toTextStream());
        await result.completed;
      };
      await expect(read()).rejects.toThrow("broke off");
    }),
  );
});
