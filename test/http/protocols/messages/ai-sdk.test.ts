import { createAnthropic } from "@ai-sdk/anthropic";
import { APICallError, generateText, Output, stepCountIs, streamText, tool } from "ai";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { collect } from "../../../e2e/clients/collect.js";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { bothTargets, type MessagesServerKind } from "../../../support/operations/messages/message-samples.js";
import { type MessagesServer, withMessages } from "../../../support/operations/messages/messages-server.js";
import { smallModel } from "../../../support/test-gateway.js";

afterAll(expectNoSockets);

const call = { id: "toolu_1", name: "weather", arguments: '{"city":"Rome"}' };

/** Calls a tool first; says something when it has its result. */
function inTwoSteps(target: MessagesServerKind) {
  return (...[request, response]: Parameters<ReturnType<MessagesServerKind["whole"]>>) => {
    const isSecond = request.body.toString().includes("sunny");
    const said = isSecond ? { text: "Sunny, then" } : { calls: [call] };
    return (request.json["stream"] ? target.stream(said) : target.whole(said))(request, response);
  };
}

describe.each(bothTargets)("the AI SDK, in front of $name,", (target) => {
  const modelOf = ({ baseURL }: MessagesServer, id = "acme/small", apiKey = "sk-pro") =>
    createAnthropic({ baseURL, apiKey })(id);
  const tools = {
    weather: tool({
      description: "The weather in a city.",
      inputSchema: z.object({ city: z.string() }),
      execute: async ({ city }) => `sunny in ${city}`,
    }),
  };

  it(
    "reads whole messages and streams",
    withMessages(target, async (server) => {
      const whole = await generateText({ model: modelOf(server), prompt: "Say hello.", maxRetries: 0 });
      expect(whole).toMatchObject({ text: "Hello world", finishReason: "stop" });
      expect(whole.usage).toMatchObject({ inputTokens: 9, outputTokens: 3 });
      const stream = streamText({ model: modelOf(server), prompt: "Say hello.", maxRetries: 0 });
      expect((await collect(stream.textStream)).join("")).toBe("Hello world");
      expect(await stream.usage).toMatchObject({ inputTokens: 9, outputTokens: 3 });
      expect(server.events).toMatchObject([{ chargedMicro: 39 }, { chargedMicro: 39 }]);
    }),
  );

  it(
    "goes through several steps with tools, whole and as streams",
    withMessages(target, async (server) => {
      server.upstream.reply(inTwoSteps(target));
      const turn = {
        model: modelOf(server),
        prompt: "How is the weather in Rome?",
        tools,
        stopWhen: stepCountIs(3),
        maxRetries: 0,
      };
      const whole = await generateText(turn);
      expect(whole.text).toBe("Sunny, then");
      expect(whole.steps.map(({ finishReason }) => finishReason)).toEqual(["tool-calls", "stop"]);
      const stream = streamText(turn);
      expect((await collect(stream.textStream)).join("")).toBe("Sunny, then");
      expect((await stream.steps)[0]?.toolResults).toMatchObject([{ output: "sunny in Rome" }]);
      expect(server.events).toHaveLength(4);
      expect(server.upstream.lastRequest.body.toString()).toContain("sunny in Rome");
    }),
  );

  it(
    "gets objects, by a schema or by a tool, as it asks for them",
    withMessages(
      target,
      async (server) => {
        const output = Output.object({ schema: z.object({ city: z.string() }) });
        const seen: unknown[] = [];
        server.upstream.reply((request, response) => {
          seen.push(request.json["output_config"] ?? request.json["response_format"]);
          const name = request.body.toString().includes('"name":"json"') ? "json" : undefined;
          const said = name === undefined ? { text: '{"city":"Rome"}' } : { calls: [{ ...call, name }] };
          return target.whole(said)(request, response);
        });
        for (const id of ["claude-sonnet-4-5", "acme/small"]) {
          const found = await generateText({
            model: modelOf(server, id),
            prompt: "Where?",
            output,
            maxRetries: 0,
          });
          expect(found.output).toEqual({ city: "Rome" });
        }
        expect(seen[0]).toBeDefined();
      },
      {
        models: [smallModel, { ...smallModel, id: "claude-sonnet-4-5" }],
        plans: memoryPlanStore({ pro: { models: ["*"] } }),
      },
    ),
  );

  it(
    "throws what was refused, with its words",
    withMessages(target, async (server) => {
      const failing = generateText({ model: modelOf(server, "none"), prompt: "Hi", maxRetries: 2 });
      const error: unknown = await failing.catch((thrown: unknown) => thrown);
      if (!APICallError.isInstance(error)) throw error;
      expect(error).toMatchObject({ statusCode: 404, isRetryable: false, message: expect.stringContaining("none") });
      expect(server.attempts()).toBe(1);
    }),
  );

  it(
    "hears of a stream that breaks off",
    withMessages(target, async (server) => {
      server.upstream.reply(target.stream({ isBroken: true }, { end: "cut" }));
      const errors: unknown[] = [];
      const stream = streamText({
        model: modelOf(server),
        prompt: "Hi",
        maxRetries: 0,
        onError: ({ error }) => void errors.push(error),
      });
      const parts = await collect(stream.fullStream);
      expect(parts.filter(({ type }) => type === "error")).toHaveLength(1);
      expect(JSON.stringify(errors)).toContain("broke off");
    }),
  );
});
