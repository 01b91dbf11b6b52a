import { createAnthropic } from "@ai-sdk/anthropic";
import { createGoogleGenerativeAI } from "@ai-sdk/google";
import { createAnthropic as createAnthropic2 } from "anthropic-v2";
import { createAnthropic as createAnthropic4 } from "anthropic-v4";
import OpenAI from "openai";
import { type AISDKModel, type AISDKOptions, aiSDK } from "../../../src/ai-sdk.js";
import type { Model } from "../../../src/gateway/models/model.js";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { type ClientServer, startServer } from "../../e2e/clients/start-server.js";
import { smallModel } from "../../support/test-gateway.js";

/** A gateway before a model of the AI SDK, whose native server answers as the test tells it to. */
export interface ModelServer extends ClientServer {
  native: FakeUpstream;
  client: OpenAI;
}

/** Makes the model of the given name, which finds its server at `origin`. */
export type MakeModel = (origin: string, name: string) => AISDKModel;

export const anthropic: MakeModel = (origin, name) =>
  createAnthropic({ baseURL: `${origin}/v1`, apiKey: "sk-ant-secret" })(name);

export const anthropicV2: MakeModel = (origin, name) =>
  createAnthropic2({ baseURL: `${origin}/v1`, apiKey: "sk-ant-secret" })(name);

export const anthropicV4: MakeModel = (origin, name) =>
  createAnthropic4({ baseURL: `${origin}/v1`, apiKey: "sk-ant-secret" })(name);

export const google: MakeModel = (origin, name) =>
  createGoogleGenerativeAI({ baseURL: `${origin}/v1beta`, apiKey: "google-secret" })(name);

export const googleEmbedding: MakeModel = (origin, name) =>
  createGoogleGenerativeAI({ baseURL: `${origin}/v1beta`, apiKey: "google-secret" }).embeddingModel(name);

export interface ModelServerOptions {
  /** The upstream's name for the model. Default: `claude-test`. */
  name?: string;
  /** Default: the small one, with room for thoughts. */
  model?: Model;
  options?: Partial<AISDKOptions>;
}

export async function startModel(
  make: MakeModel,
  { name = "claude-test", model, options }: ModelServerOptions = {},
): Promise<ModelServer> {
  const native = await startFakeUpstream();
  const provider = aiSDK({ model: (name) => make(native.origin, name), ...options });
  const server = await startServer({
    models: [
      { ...(model ?? { ...smallModel, maxOutputTokens: 100_000 }), upstream: { provider: "native", model: name } },
    ],
    providers: { native: provider },
  });
  return {
    ...server,
    native,
    client: new OpenAI({ baseURL: server.baseURL, apiKey: "sk-pro", maxRetries: 0 }),
    close: async () => {
      await server.close();
      await native.close();
    },
  };
}

/** Runs a test with such a server; afterwards the books must balance. */
export function withModel(
  make: MakeModel,
  test: (server: ModelServer) => Promise<void>,
  options?: ModelServerOptions,
): () => Promise<void> {
  return async () => {
    const server = await startModel(make, options);
    try {
      await test(server);
      await server.checkBooks();
    } finally {
      await server.close();
    }
  };
}
