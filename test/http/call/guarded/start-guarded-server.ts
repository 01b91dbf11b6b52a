import { onTestFinished } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import type { ResponseGuard } from "../../../../src/hooks/response-guard.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { anthropic, openAI } from "../../../../src/providers/presets.js";
import { type FakeAnswer, type FakeUpstream, type Gate, startFakeUpstream } from "../../../../src/testing.js";
import { type ClientServer, startServer } from "../../../e2e/clients/start-server.js";
import { nativeTarget } from "../../../support/operations/messages/message-samples.js";
import { chatServer, nativeServer, type Said } from "../../../support/operations/responses/response-samples.js";
import { embeddingModel, smallModel } from "../../../support/test-gateway.js";

/** What clients call, and what the model's server speaks. */
export const pairs = [
  ["chat/completions", "chat"],
  ["chat/completions", "messages"],
  ["responses", "responses"],
  ["responses", "chat"],
  ["responses", "messages"],
  ["messages", "messages"],
  ["messages", "chat"],
] as const;

export type ClientPath = (typeof pairs)[number][0];

/** A model on a server that speaks one API alone. */
function modelOf(provider: string): Model {
  return { ...smallModel, id: `acme/${provider}`, upstream: { provider, model: "upstream-small" } };
}

/** What an honest server of any API gives for what the model says; a stream waits at the gate before each piece. */
export function saying(said: Said = {}, gate?: Gate): FakeAnswer {
  return (request, response) => {
    const kind = request.url.endsWith("/messages")
      ? nativeTarget
      : request.url.endsWith("/responses")
        ? nativeServer
        : chatServer;
    const options = gate === undefined ? {} : { gate };
    const answer = request.json.stream ? kind.stream(said, options) : kind.whole(said);
    return answer(request, response);
  };
}

export interface GuardedServer extends ClientServer {
  /** The model server, whatever the API. */
  model: FakeUpstream;
  post(path: string, body?: object, init?: RequestInit): Promise<Response>;
}

/** A gateway with guards on loopback, in front of servers of each API. When the test ends, its books must balance. */
export async function startGuardedServer(
  guards: readonly ResponseGuard[],
  options: Partial<GatewayOptions> = {},
): Promise<GuardedServer> {
  const model = await startFakeUpstream();
  model.reply(saying());
  const server = await startServer({
    models: [smallModel, embeddingModel, ...["chat", "responses", "messages"].map(modelOf)],
    providers: {
      fake: openAICompatible({ baseURL: model.url }),
      chat: openAICompatible({ baseURL: model.url }),
      responses: openAI({ baseURL: model.url, apiKey: "sk-upstream-secret" }),
      messages: anthropic({ baseURL: model.url, apiKey: "sk-upstream-secret" }),
    },
    guards,
    ...options,
  });
  onTestFinished(async () => {
    try {
      await server.checkBooks();
    } finally {
      await server.close();
      await model.close();
    }
  });
  const post = (path: string, body: object = {}, init: RequestInit = {}) =>
    fetch(`${server.baseURL}/${path}`, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
      body: JSON.stringify(body),
      ...init,
    });
  return { ...server, model, post };
}

/** A request to say hello, of any client's API. */
export function bodyFor(path: ClientPath, target: string, members: object = {}): object {
  const prompt = path === "responses" ? { input: "Hi" } : { messages: [{ role: "user", content: "Hi" }] };
  return { model: `acme/${target}`, ...prompt, ...(path === "messages" ? { max_tokens: 50 } : undefined), ...members };
}

export const refusing: ResponseGuard = {
  name: "secrets",
  answer: ({ texts }) =>
    texts.some(({ text }) => text.includes("SECRET")) ? { refuse: "Not this.", code: "secret_found" } : undefined,
};

export const passing: ResponseGuard = { name: "passing", answer: () => undefined };
