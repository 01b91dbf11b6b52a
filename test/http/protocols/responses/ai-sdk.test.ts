import { createOpenAI } from "@ai-sdk/openai";
import { generateText, type LanguageModel, type ModelMessage, Output, stepCountIs, streamText, tool } from "ai";
import { afterAll, describe, expect, it } from "vitest";
import { z } from "zod";
import { expectNoSockets } from "../../../e2e/clients/start-server.js";
import { bothServers, type Said } from "../../../support/operations/responses/response-samples.js";
import { type ResponsesServer, withResponses } from "../../../support/operations/responses/responses-server.js";

afterAll(expectNoSockets);

/** Nothing is kept here: without `store: false` it would send references to what it got. */
const stateless = { providerOptions: { openai: { store: false } }, maxRetries: 0 };

const modelOf = ({ baseURL }: ResponsesServer) => createOpenAI({ baseURL, apiKey: "sk-pro" }).responses("acme/small");

const weather = tool({
  description: "The weather in a city.",
  inputSchema: z.object({ city: z.string() }),
  execute: ({ city }) => `fine in ${city}`,
});

const asked: Said = { calls: [{ id: "call_1", name: "weather", arguments: '{"city":"Paris"}' }] };

/** With all that it does by default. */
async function generateOnce(model: LanguageModel, stream: boolean, messages: ModelMessage[]) {
  const call = { model, messages, tools: { weather }, stopWhen: stepCountIs(4), maxRetries: 0 };
  if (!stream) return generateText(call);
  const result = streamText(call);
  await result.consumeStream();
  return result;
}

describe.each(bothServers)("the AI SDK's own provider for OpenAI, in front of $name,", (target) => {
  it(
    "reads text, and what it cost",
    withResponses(target, async (server) => {
      const { text, usage, finishReason } = await generateText({ model: modelOf(server), prompt: "Hi", ...stateless });
      expect({ text, finishReason }).toEqual({ text: "Hello world", finishReason: "stop" });
      expect(usage).toMatchObject({ inputTokens: 9, outputTokens: 3 });
    }),
  );

  it(
    "reads a stream",
    withResponses(target, async (server) => {
      const result = streamText({ model: modelOf(server), prompt: "Hi", ...stateless });
      const deltas: string[] = [];
      for await (const delta of result.textStream) deltas.push(delta);
      expect(deltas).toEqual(["Hello", " world"]);
      expect(await result.totalUsage).toMatchObject({ inputTokens: 9, outputTokens: 3 });
    }),
  );

  it.each([false, true])("runs its tools in a loop (stream: %s)", async (stream) => {
    await withResponses(target, async (server) => {
      const said = stream ? target.stream : target.whole;
      server.upstream.replyOnce(said(asked));
      server.upstream.replyOnce(said({ text: "All fine." }));
      const call = {
        model: modelOf(server),
        prompt: "Weather?",
        tools: { weather },
        stopWhen: stepCountIs(3),
        ...stateless,
      };
      const text = stream ? await streamText(call).text : (await generateText(call)).text;
      expect(text).toBe("All fine.");
      expect(JSON.stringify(server.upstream.lastRequest.json)).toContain("fine in Paris");
      expect(server.events.map(({ chargedMicro }) => chargedMicro)).toEqual([39, 39]);
    })();
  });

  it.each([false, true])("refers to its earlier steps, as it does by default (stream: %s)", async (stream) => {
    await withResponses(target, async (server) => {
      const said = stream ? target.stream : target.whole;
      const second: Said = { calls: [{ id: "call_2", name: "weather", arguments: '{"city":"Rome"}' }] };
      server.upstream.replyOnce(said({ text: "I look it up." }));
      for (const each of [asked, second, { text: "All fine." }]) server.upstream.replyOnce(said(each));
      const model = modelOf(server);
      const first = await generateOnce(model, stream, [{ role: "user", content: "Hi" }]);
      const messages: ModelMessage[] = [
        { role: "user", content: "Hi" },
        ...(await first.response).messages,
        { role: "user", content: "Weather?" },
      ];
      const result = await generateOnce(model, stream, messages);
      expect(await result.text).toBe("All fine.");
      expect(JSON.stringify(messages)).toContain("itemId");
      const { messages: chat, input } = server.upstream.lastRequest.json;
      expect(JSON.stringify(chat ?? input)).toMatch(
        /Hi.*I look it up\..*Weather\?.*call_1.*fine in Paris.*fine in Rome/,
      );
      expect(JSON.stringify(input ?? "")).not.toContain("item_reference");
      expect(server.events).toHaveLength(4);
    })();
  });

  it(
    "parses what a schema asks for",
    withResponses(target, async (server) => {
      server.upstream.reply(target.whole({ text: '{"city":"Paris"}' }));
      const output = Output.object({ schema: z.object({ city: z.string() }) });
      const result = await generateText({ model: modelOf(server), prompt: "Where?", output, ...stateless });
      expect(result.output).toEqual({ city: "Paris" });
    }),
  );

  it(
    "has an error part for a stream that breaks off",
    withResponses(target, async (server) => {
      server.upstream.reply(target.stream({ isBroken: true }, { end: "cut" }));
      const errors: unknown[] = [];
      const result = streamText({
        model: modelOf(server),
        prompt: "Hi",
        ...stateless,
        onError: ({ error }) => void errors.push(error),
      });
      let text = "";
      for await (const delta of result.textStream) text += delta;
      expect(text).toBe("Hello world");
      expect(JSON.stringify(errors)).toContain("broke off");
    }),
  );

  it(
    "reads why a request was refused",
    withResponses(target, async (server) => {
      const model = createOpenAI({ baseURL: server.baseURL, apiKey: "sk-pro" }).responses("acme/none");
      const request = generateText({ model, prompt: "Hi", ...stateless });
      await expect(request).rejects.toMatchObject({ statusCode: 404, data: { error: { code: "model_not_found" } } });
    }),
  );
});
