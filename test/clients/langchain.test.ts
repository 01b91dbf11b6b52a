import { HumanMessage } from "@langchain/core/messages";
import { ChatOpenAI } from "@langchain/openai";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { memoryPlanStore } from "../../src/plans/memory-plan-store.js";
import { chatAnswer, errorBody, eventStream, wholeAnswer } from "../support/fake-upstream.js";
import { toolAnswer, toolChunks, weatherTool } from "./samples.js";
import { type ClientServer, startServer } from "./start-server.js";

let server: ClientServer;
beforeEach(async () => {
  server = await startServer();
});
afterEach(() => server.close());

function model(from = server, apiKey = "sk-pro", id = "acme/small"): ChatOpenAI {
  return new ChatOpenAI({ model: id, apiKey, configuration: { baseURL: from.baseURL } });
}

const prompt = [new HumanMessage("Hello!")];

describe("LangChain", () => {
  it("invokes", async () => {
    const message = await model().invoke(prompt);
    expect(message.text).toBe("Hello world");
    expect(message.usage_metadata).toMatchObject({ input_tokens: 9, output_tokens: 3 });
  });

  it("streams, with usage", async () => {
    let text = "";
    let tokens: number | undefined;
    for await (const chunk of await model().stream(prompt)) {
      text += chunk.text;
      const { usage_metadata: usage } = chunk as unknown as { usage_metadata?: { total_tokens: number } };
      tokens = usage?.total_tokens ?? tokens;
    }
    expect([text, tokens]).toEqual(["Hello world", 12]);
  });

  it("binds tools, whole and streamed", async () => {
    const cities = [{ args: { city: "Paris" } }, { args: { city: "Oslo" } }];
    server.upstream.reply(wholeAnswer(toolAnswer));
    expect((await model().bindTools([weatherTool]).invoke(prompt)).tool_calls).toMatchObject(cities);
    server.upstream.reply(eventStream(toolChunks));
    let gathered: Awaited<ReturnType<ChatOpenAI["invoke"]>> | undefined;
    for await (const chunk of await model().bindTools([weatherTool]).stream(prompt))
      gathered = gathered?.concat(chunk) ?? chunk;
    expect(gathered?.tool_calls).toMatchObject(cities);
  });

  it("gets structured output", async () => {
    server.upstream.reply(wholeAnswer(chatAnswer({ content: '{"city":"Paris"}' })));
    const schema = { title: "place", type: "object", properties: { city: { type: "string" } }, required: ["city"] };
    expect(await model().withStructuredOutput(schema, { method: "jsonSchema" }).invoke(prompt)).toEqual({
      city: "Paris",
    });
    expect(server.upstream.lastRequest.json).toMatchObject({ response_format: { type: "json_schema" } });
  });

  it.each([
    ["a wrong key", "sk-wrong", "acme/small", 401],
    ["a model outside the plan", "sk-basic", "acme/large", 403],
    ["an unknown model", "sk-pro", "acme/none", 404],
  ])("makes one attempt with %s", async (_name, key, id, status) => {
    await expect(model(server, key, id).invoke(prompt)).rejects.toMatchObject({ status });
    expect(server.attempts()).toBe(1);
  });

  it("recognises a context that is too long", async () => {
    server.upstream.reply(
      wholeAnswer(errorBody("This model's maximum context length is 10 tokens.", { code: "context_length_exceeded" }), {
        status: 400,
      }),
    );
    await expect(model().invoke(prompt)).rejects.toMatchObject({ name: "ContextOverflowError" });
  });

  it("makes exactly one attempt on a stock that is used up", async () => {
    const poor = await startServer({ plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { month: 0 } } }) });
    await expect(model(poor).invoke(prompt)).rejects.toMatchObject({ code: "month_limit_exceeded" });
    expect(poor.attempts()).toBe(1);
    await poor.close();
  });

  it("throws what breaks in the middle of a stream", async () => {
    server.upstream.reply(eventStream(["data: not json"].map((line) => `${line}\n\n`)));
    const read = async () => {
      for await (const chunk of await new ChatOpenAI({
        model: "acme/small",
        apiKey: "sk-pro",
        maxRetries: 0,
        configuration: { baseURL: server.baseURL },
      }).stream(prompt)) {
        expect(chunk).toBeDefined();
      }
    };
    await expect(read()).rejects.toMatchObject({ status: 502 });
  });
});
