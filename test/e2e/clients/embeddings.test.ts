import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { OpenAIEmbeddings } from "@langchain/openai";
import { embed, embedMany } from "ai";
import OpenAI from "openai";
import { afterAll, describe, expect, it } from "vitest";
import { honestEmbeddings, sampleVector } from "../../support/embedding-samples.js";
import { expectNoSockets, withServer } from "./start-server.js";

afterAll(expectNoSockets);

const inputs = ["one", "three", "seventeen"];

/** Servers that heed the encoding, and those that do not. */
const upstreams = [
  ["an honest upstream", undefined],
  ["one that knows floats alone", "float"],
  ["one that knows base64 alone", "base64"],
] as const;

describe.concurrent.each(upstreams)("of %s", (_name, encoding) => {
  const answer = honestEmbeddings(encoding === undefined ? {} : { encoding });

  it(
    "openai gets embeddings, by default as base64 on the wire",
    withServer(async ({ baseURL, upstream, checkBooks }) => {
      upstream.reply(answer);
      const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
      const created = await client.embeddings.create({ model: "acme/embed", input: inputs });
      expect(upstream.lastRequest.json.encoding_format).toBe("base64");
      expect(created.data.map(({ embedding }) => Array.from(embedding))).toEqual(inputs.map(sampleVector));
      expect(created).toMatchObject({ model: "acme/embed", usage: { prompt_tokens: 12, total_tokens: 12 } });
      const floats = await client.embeddings.create({
        model: "acme/embed",
        input: [[1, 2], [3]],
        encoding_format: "float",
        dimensions: 3,
        user: "user-1",
      });
      expect(floats.data.map(({ embedding }) => embedding)).toEqual([[1, 2], [3]].map(sampleVector));
      expect(upstream.lastRequest.json).toMatchObject({ dimensions: 3, user: "user-1" });
      await checkBooks();
    }),
  );

  it(
    "the AI SDK gets embeddings",
    withServer(async ({ baseURL, upstream, checkBooks }) => {
      upstream.reply(answer);
      const model = createOpenAICompatible({ name: "acme", baseURL, apiKey: "sk-pro" }).embeddingModel("acme/embed");
      const one = await embed({ model, value: "one", maxRetries: 0 });
      expect(one).toMatchObject({ embedding: sampleVector("one"), usage: { tokens: 4 } });
      const many = await embedMany({ model, values: inputs, maxRetries: 0 });
      expect(many).toMatchObject({ embeddings: inputs.map(sampleVector), usage: { tokens: 12 } });
      await checkBooks();
    }),
  );

  it(
    "LangChain gets embeddings",
    withServer(async ({ baseURL, upstream, checkBooks }) => {
      upstream.reply(answer);
      const model = new OpenAIEmbeddings({
        model: "acme/embed",
        apiKey: "sk-pro",
        maxRetries: 0,
        configuration: { baseURL },
      });
      expect(await model.embedQuery("one")).toEqual(sampleVector("one"));
      expect(await model.embedDocuments(inputs)).toEqual(inputs.map(sampleVector));
      await checkBooks();
    }),
  );
});

describe.concurrent("openai is told", () => {
  it(
    "what is wrong with an input, and with a model",
    withServer(async ({ baseURL, upstream, checkBooks }) => {
      const client = new OpenAI({ baseURL, apiKey: "sk-pro", maxRetries: 0 });
      await expect(client.embeddings.create({ model: "acme/embed", input: "" })).rejects.toMatchObject({
        constructor: OpenAI.BadRequestError,
        param: "input",
      });
      await expect(client.embeddings.create({ model: "acme/small", input: "a" })).rejects.toMatchObject({
        constructor: OpenAI.BadRequestError,
        param: "model",
      });
      expect(upstream.requests).toHaveLength(0);
      await checkBooks();
    }),
  );
});
