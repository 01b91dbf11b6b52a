import type { RequestCompleted } from "../../src/events/request-completed.js";
import type { GatewayWarning } from "../../src/events/warning.js";
import { createGateway } from "../../src/gateway/create-gateway.js";
import type { Gateway } from "../../src/gateway/gateway.js";
import type { Model } from "../../src/gateway/models/model.js";
import type { GatewayOptions } from "../../src/gateway/options.js";
import { openAICompatible } from "../../src/providers/openai-compatible.js";
import { memoryCreditLedger } from "../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../src/stores/memory/memory-stores.js";
import { type FakeUpstream, startFakeUpstream } from "../../src/testing.js";

/** A gateway in front of a fake upstream, with all that it reported. */
export interface TestGateway {
  gateway: Gateway;
  upstream: FakeUpstream;
  events: RequestCompleted[];
  warnings: GatewayWarning[];
  /** The event of the next request to end; those that ended before are skipped. */
  nextEvent(): Promise<RequestCompleted>;
  close(): Promise<void>;
}

/** The model that most tests call: 1 micro-credit a prompt token, 10 an output token. */
export const smallModel: Model = {
  id: "acme/small",
  type: "chat",
  publisher: "acme",
  contextLength: 128_000,
  maxOutputTokens: 1000,
  capabilities: { tools: true },
  price: { input: 1, cachedInput: 0.5, output: 10, reasoning: 20 },
  upstream: { provider: "fake", model: "upstream-small" },
};

export const largeModel: Model = {
  ...smallModel,
  id: "acme/large",
  upstream: { provider: "fake", model: "upstream-large" },
};

export const freeModel: Model = {
  ...smallModel,
  id: "acme/free",
  price: { input: 0, output: 0 },
  upstream: { provider: "fake", model: "upstream-free" },
};

export const chatModels: readonly Model[] = [smallModel, largeModel, freeModel];

export const embeddingModel: Model = {
  id: "acme/embed",
  type: "embedding",
  contextLength: 8192,
  price: { input: 1, output: 0 },
  upstream: { provider: "fake", model: "upstream-embed" },
};

/**
 * Starts both. `sk-pro` may use all models of acme with 100, 500 and 1,500 credits; `sk-basic` only `acme/small`,
 * without limits; `sk-narrow` is a key of the pro account for `acme/small` alone.
 */
export async function startTestGateway(options: Partial<GatewayOptions> = {}): Promise<TestGateway> {
  const upstream = await startFakeUpstream();
  const events: RequestCompleted[] = [];
  const warnings: GatewayWarning[] = [];
  let waiting: ((event: RequestCompleted) => void)[] = [];
  const make = () =>
    createGateway({
      models: [...chatModels, embeddingModel],
      keys: memoryKeyStore([
        { key: "sk-pro", id: "key_pro", account: "acct_pro", plan: "pro" },
        { key: "sk-basic", id: "key_basic", account: "acct_basic", plan: "basic" },
        { key: "sk-narrow", id: "key_narrow", account: "acct_pro", plan: "pro", models: ["acme/small"] },
      ]),
      plans: memoryPlanStore({
        pro: { models: ["acme/*"], credits: { session: 100, week: 500, month: 1500 } },
        basic: { models: ["acme/small"] },
      }),
      ledger: memoryCreditLedger(options.clock === undefined ? {} : { clock: options.clock }),
      providers: { fake: openAICompatible({ baseURL: upstream.url, apiKey: "sk-upstream-secret" }) },
      closeGraceMs: 0,
      onWarning: (warning) => warnings.push(warning),
      onRequestCompleted: (event) => {
        events.push(event);
        for (const resolve of waiting) resolve(event);
        waiting = [];
      },
      ...options,
    });
  let gateway: Gateway;
  try {
    gateway = make();
  } catch (error) {
    await upstream.close();
    throw error;
  }
  return {
    gateway,
    upstream,
    events,
    warnings,
    nextEvent: () => new Promise((resolve) => waiting.push(resolve)),
    close: async () => {
      await gateway.close();
      await upstream.close();
    },
  };
}

/** A chat completion request as the OpenAI SDK sends it. */
export function chatRequest(
  body: Record<string, unknown> | string | Uint8Array = {},
  key: string | null = "sk-pro",
): Request {
  const isRecord = typeof body === "object" && !(body instanceof Uint8Array);
  return new Request("http://gateway.test/v1/chat/completions", {
    method: "POST",
    headers: {
      "content-type": "application/json",
      ...(key === null ? undefined : { authorization: `Bearer ${key}` }),
    },
    body: isRecord
      ? JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Say hello." }], ...body })
      : (body as string),
  });
}

/** An embeddings request. */
export function embeddingRequest(body: Record<string, unknown> = {}, key = "sk-pro"): Request {
  return new Request("http://gateway.test/v1/embeddings", {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${key}` },
    body: JSON.stringify({ model: "acme/embed", input: "Hello", ...body }),
  });
}

/** A GET with a key. */
export function getRequest(path: string, key: string | null = "sk-pro", method = "GET"): Request {
  return new Request(`http://gateway.test${path}`, {
    method,
    headers: key === null ? {} : { authorization: `Bearer ${key}` },
  });
}

/** The `data:` payloads of a stream, `[DONE]` included. */
export async function readEvents(response: Response): Promise<string[]> {
  const text = await response.text();
  return text
    .split("\n\n")
    .filter((event) => event.startsWith("data: "))
    .map((event) => event.slice("data: ".length));
}
