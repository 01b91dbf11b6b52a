import type { Model } from "../../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { type OpenAICompatibleOptions, openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { anthropic } from "../../../../src/providers/presets.js";
import type { UpstreamProvider } from "../../../../src/providers/upstream-provider.js";
import { type FakeAnswer, type FakeUpstream, startFakeUpstream } from "../../../../src/testing.js";
import { nativeTarget as messagesSamples } from "../../../support/operations/messages/message-samples.js";
import {
  chatServer,
  nativeServer as responsesSamples,
  type Said,
} from "../../../support/operations/responses/response-samples.js";
import { smallModel, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

/** A client, or a target: which API it speaks. */
export type Spoken = "chat/completions" | "responses" | "messages";

export const allSpoken: readonly Spoken[] = ["chat/completions", "responses", "messages"];

/** All clients with all targets that they can reach. Nobody but a Responses client reaches a target of these alone. */
export const allPairs = allSpoken.flatMap((client) =>
  allSpoken
    .filter((target) => target !== "responses" || client === "responses")
    .map((target) => ({ client, target, isTranslated: client !== target })),
);

const providers: Readonly<Record<Spoken, (options: OpenAICompatibleOptions) => UpstreamProvider>> = {
  "chat/completions": openAICompatible,
  responses: (options) => openAICompatible({ ...options, operations: ["responses"] }),
  messages: anthropic,
};

const samples = { "chat/completions": chatServer, responses: responsesSamples, messages: messagesSamples };

/** What an honest server of that API does. */
export function honest(target: Spoken, said?: Said): FakeAnswer {
  const { stream, whole } = samples[target];
  return (request, response) => (request.json.stream ? stream(said) : whole(said))(request, response);
}

export interface Pair extends TestGateway {
  server: FakeUpstream;
  /** A request of the client, with a short prompt unless the members bring their own. */
  post(members?: Record<string, unknown>, path?: string): Promise<Response>;
  /** The body of the last request to the target. */
  sent(): Record<string, unknown>;
}

/** A gateway whose model `acme/small` is at a target of that API. */
export async function startPair(
  client: Spoken,
  target: Spoken,
  { model = {}, ...options }: Partial<GatewayOptions> & { model?: Partial<Model> } = {},
): Promise<Pair> {
  const server = await startFakeUpstream();
  server.reply(honest(target));
  const fake = providers[target]({ baseURL: server.url, apiKey: "sk-upstream-secret" });
  const test = await startTestGateway({ models: [{ ...smallModel, ...model }], providers: { fake }, ...options });
  const post = (members: Record<string, unknown> = {}, path = `/v1/${client}`) =>
    test.gateway.handler(
      new Request(`http://gateway.test${path}`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer sk-pro" },
        body: JSON.stringify({ model: "acme/small", ...promptOf(client, members), ...members }),
      }),
    );
  const close = async () => {
    await test.close();
    await server.close();
  };
  return { ...test, server, post, sent: () => server.requests.at(-1)?.json ?? {}, close };
}

function promptOf(client: Spoken, members: Record<string, unknown>): Record<string, unknown> {
  if (client === "responses") return "input" in members ? {} : { input: "Say hello." };
  const messages = { messages: [{ role: "user", content: "Say hello." }] };
  return client === "messages" ? { max_tokens: 50, ...messages } : messages;
}
