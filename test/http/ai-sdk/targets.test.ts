import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import OpenAI from "openai";
import { describe, expect, it } from "vitest";
import { aiSDK } from "../../../src/ai-sdk.js";
import type { Model } from "../../../src/gateway/models/model.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import {
  chatChunks,
  errorBody,
  eventStream,
  type FakeUpstream,
  hangBeforeHeaders,
  startFakeUpstream,
  wholeAnswer,
} from "../../../src/testing.js";
import { collect } from "../../e2e/clients/collect.js";
import { type ClientServer, startServer } from "../../e2e/clients/start-server.js";
import { honestEmbeddings } from "../../support/embedding-samples.js";
import { embeddingModel, smallModel } from "../../support/test-gateway.js";
import { anthropicMessage, anthropicStream, textBlock } from "./native-answers.js";

interface Servers extends ClientServer {
  native: FakeUpstream;
  other: FakeUpstream;
  client: OpenAI;
}

const claude = { provider: "claude", model: "claude-test", price: { input: 3, output: 30 } };
const gemini = { provider: "gemini", model: "gemini-embedding-001", price: { input: 5 } };
const other = { provider: "other", model: "other-test" };

/** A gateway with a model of the AI SDK and an OpenAI-compatible server behind one model. */
function withTargets(model: Partial<Model>, run: (servers: Servers) => Promise<void>): () => Promise<void> {
  return async () => {
    const [native, compatible] = [await startFakeUpstream(), await startFakeUpstream()];
    const google = createGoogleGenerativeAI({ baseURL: `${native.origin}/v1beta`, apiKey: "k" });
    const server = await startServer({
      models: [
        { ...smallModel, ...model },
        { ...embeddingModel, upstream: [gemini, other] },
      ],
      providers: {
        claude: aiSDK({ model: createAnthropic({ baseURL: `${native.origin}/v1`, apiKey: "k" }) }),
        gemini: aiSDK({ model: (name) => google.embeddingModel(name) }),
        other: openAICompatible({ baseURL: compatible.url }),
      },
    });
    const client = new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro", maxRetries: 0 });
    try {
      await run({ ...server, native, other: compatible, client });
      await server.checkBooks();
    } finally {
      await server.close();
      await native.close();
      await compatible.close();
    }
  };
}

const hello = { model: "acme/small", messages: [{ role: "user" as const, content: "Hello!" }] };

describe.concurrent("a model of the AI SDK beside another target", () => {
  it(
    "is called when that one fails, and charged at its own price",
    withTargets({ upstream: [other, claude] }, async ({ native, other, client, events }) => {
      other.reply(wholeAnswer(errorBody("No."), { status: 500 }));
      native.replyOnce(anthropicMessage([{ type: "text", text: "Hi." }]));
      const answer = await client.chat.completions.create(hello);
      expect(answer.choices[0]?.message.content).toBe("Hi.");
      native.replyOnce(anthropicStream([textBlock("H", "i.")]));
      const chunks = await collect(await client.chat.completions.create({ ...hello, stream: true }));
      expect(chunks.map(({ choices }) => choices[0]?.delta.content ?? "").join("")).toBe("Hi.");
      const attempts = [
        { provider: "other", status: 500 },
        { provider: "claude", status: 200 },
      ];
      const charged = 20 * 3 + 5 * 30;
      expect(events).toMatchObject([
        { chargedMicro: charged, attempts },
        { chargedMicro: charged, attempts },
      ]);
    }),
  );

  it(
    "gives way when its server is overloaded or silent, and costs nothing",
    withTargets(
      { upstream: [{ ...claude, timeoutMs: 300 }, other], breaker: false },
      async ({ native, other, client, events }) => {
        const overloaded = { type: "error", error: { type: "overloaded_error", message: "Overloaded" } };
        native.replyOnce(hangBeforeHeaders());
        native.replyOnce(wholeAnswer(overloaded, { status: 529 }));
        await client.chat.completions.create(hello);
        await client.chat.completions.create(hello);
        expect(other.requests).toHaveLength(2);
        expect(events).toMatchObject([
          { chargedMicro: 39, attempts: [{ outcome: "upstream_timeout" }, { provider: "other" }] },
          { chargedMicro: 39, attempts: [{ status: 529 }, { provider: "other" }] },
        ]);
      },
    ),
  );

  it.each([
    ["several answers", { n: 2 }],
    ["logprobs", { logprobs: true }],
    ["audio", { messages: [audio()] }],
    ["an image that it cannot fetch", { messages: [image("ftp://images.test/1.png")] }],
  ])("leaves to that one what it cannot do: %s", async (_name, request) => {
    await withTargets({ upstream: [claude, other] }, async ({ gateway, native, other, client, events }) => {
      await client.chat.completions.create({ ...hello, ...request });
      other.reply(eventStream(chatChunks("Hello")));
      await collect(await client.chat.completions.create({ ...hello, ...request, stream: true }));
      expect([native.requests.length, other.requests.length]).toEqual([0, 2]);
      const attempts = [{ provider: "claude", outcome: "upstream_refused" }, { provider: "other" }];
      expect(events).toMatchObject([{ attempts }, { attempts }]);
      const { targets } = gateway.health().models["acme/small"] ?? {};
      expect(targets).toMatchObject([
        { answered: 0, failed: 0 },
        { answered: 2, failed: 0 },
      ]);
    })();
  });

  it(
    "says what it cannot do where nobody can, and not where that one may soon",
    withTargets({ upstream: [other, claude] }, async ({ other, client }) => {
      other.replyOnce(wholeAnswer(errorBody("No.", { param: "n" }), { status: 400 }));
      await expect(client.chat.completions.create({ ...hello, n: 2 })).rejects.toMatchObject({ status: 400 });
      other.replyOnce(wholeAnswer(errorBody("No."), { status: 500 }));
      await expect(client.chat.completions.create({ ...hello, n: 2 })).rejects.toMatchObject({
        status: 502,
        code: "bad_gateway",
      });
    }),
  );

  it(
    "still refuses what is the client's own fault",
    withTargets({ upstream: [claude, other] }, async ({ other, client }) => {
      const call = { id: "1", type: "function" as const, function: { name: "f", arguments: "{" } };
      const messages = [...hello.messages, { role: "assistant" as const, tool_calls: [call] }];
      await expect(client.chat.completions.create({ ...hello, messages })).rejects.toMatchObject({ status: 400 });
      expect(other.requests).toHaveLength(0);
    }),
  );

  it(
    "leaves embeddings of tokens to that one",
    withTargets({ upstream: other }, async ({ native, other, client, events }) => {
      other.reply(honestEmbeddings());
      const { data } = await client.embeddings.create({ model: "acme/embed", input: [[1, 2], [3]] });
      expect(data).toHaveLength(2);
      expect(native.requests).toHaveLength(0);
      expect(events).toMatchObject([{ chargedMicro: 8, attempts: [{ provider: "gemini" }, { provider: "other" }] }]);
    }),
  );
});

/** Which this package of the AI SDK refuses by itself. */
function audio(): OpenAI.ChatCompletionMessageParam {
  return { role: "user", content: [{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }] };
}

function image(url: string): OpenAI.ChatCompletionMessageParam {
  return { role: "user", content: [{ type: "image_url", image_url: { url } }] };
}
