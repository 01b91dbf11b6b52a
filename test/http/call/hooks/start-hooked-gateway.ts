import { Buffer } from "node:buffer";
import { onTestFinished } from "vitest";
import type { Model } from "../../../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import type { OnRequest } from "../../../../src/hooks/admission.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { anthropic, openAI } from "../../../../src/providers/presets.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { chatAnswer, type FakeUpstream, startFakeUpstream, wholeAnswer } from "../../../../src/testing.js";
import { embeddingModel, smallModel, startTestGateway } from "../../../support/test-gateway.js";

/** A model on a server that speaks one API alone. */
function modelOf(provider: string): Model {
  return { ...smallModel, id: `acme/${provider}`, upstream: { provider, model: "upstream-small" } };
}

const usage = { prompt_tokens: 12, completion_tokens: 3, total_tokens: 15 };

function answerFor(url: string): object {
  if (url.endsWith("/messages")) {
    const content = [{ type: "text", text: "Hello" }];
    const head = { id: "msg_1", type: "message", role: "assistant", model: "upstream-small", stop_reason: "end_turn" };
    return { ...head, stop_sequence: null, content, usage: { input_tokens: 12, output_tokens: 3 } };
  }
  if (url.endsWith("/responses")) {
    const content = [{ type: "output_text", text: "Hello", annotations: [] }];
    const output = [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content }];
    const head = { id: "resp_1", object: "response", created_at: 1, status: "completed", model: "upstream-small" };
    return { ...head, output, usage: { input_tokens: 12, output_tokens: 3, total_tokens: 15 } };
  }
  if (url.endsWith("/embeddings")) {
    const data = [{ object: "embedding", index: 0, embedding: [0.5] }];
    return { object: "list", data, model: "upstream-embed", usage: { prompt_tokens: 12, total_tokens: 12 } };
  }
  return chatAnswer({ content: "Hello", usage });
}

/** A gateway with a hook, in front of servers of each API. It closes with the test. */
export async function startHookedGateway(onRequest: OnRequest, options: Partial<GatewayOptions> = {}) {
  const server: FakeUpstream = await startFakeUpstream();
  onTestFinished(() => server.close());
  server.reply((request, response) => wholeAnswer(answerFor(request.url))(request, response));
  const ledger = memoryCreditLedger();
  const test = await startTestGateway({
    ledger,
    models: [smallModel, embeddingModel, modelOf("chat"), modelOf("responses"), modelOf("messages")],
    providers: {
      fake: openAICompatible({ baseURL: server.url, apiKey: "sk-upstream-secret" }),
      chat: openAICompatible({ baseURL: server.url }),
      responses: openAI({ baseURL: server.url, apiKey: "sk-upstream-secret" }),
      messages: anthropic({ baseURL: server.url, apiKey: "sk-upstream-secret" }),
    },
    onRequest,
    ...options,
  });
  onTestFinished(() => test.close());
  return { ...test, server, ledger };
}

/** A request to one of the gateway's endpoints; a text is sent byte for byte. */
export function post(path: string, body: object | string, init: RequestInit = {}): Request {
  return new Request(`http://gateway.test/v1/${path}`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer sk-pro", "x-feature": "search" },
    body: typeof body === "string" ? Buffer.from(body) : JSON.stringify(body),
    ...init,
  });
}
