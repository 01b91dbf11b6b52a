import { LRUCache } from "lru-cache";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";
import { callWithKeys, KeyRing, readApiKeys } from "./api-keys.js";
import { type CallDirectly, type DirectResponse, toDirectProvider } from "./direct-call.js";
import { headerSecrets, withoutCredentials } from "./headers.js";
import {
  type CheckedOpenAICompatibleOptions,
  checkOpenAICompatibleOptions,
  type OpenAICompatibleOptions,
} from "./openai-compatible-options.js";
import { createFetchTransport } from "./transport/fetch-transport.js";
import type { Transport, TransportOptions, TransportRequest } from "./transport/transport.js";
import { UpstreamError, type UpstreamProvider } from "./upstream-provider.js";

export type { OpenAICompatibleOptions } from "./openai-compatible-options.js";

/**
 * A model server that speaks OpenAI's API: OpenAI itself, vLLM, llama.cpp, Ollama, LM Studio, OpenRouter, Groq, …
 *
 * A failed call is not repeated: the model may have run although nothing of its response arrived.
 * @throws TypeError when an option is not valid.
 */
export function openAICompatible(options: OpenAICompatibleOptions): UpstreamProvider {
  return toProvider(checkOpenAICompatibleOptions(options));
}

/** The provider that checked options describe. */
export function toProvider(options: CheckedOpenAICompatibleOptions): UpstreamProvider {
  const { basePath, query, apiKey, ownKey, headers, operations, dialect, transport: transportOptions } = options;
  const { keyHeader = "authorization", deploymentPaths = false } = dialect ?? {};
  const transport = (transportOptions.fetch ? createFetchTransport : createLateTransport)(transportOptions);
  const fixedKeys = typeof apiKey === "function" ? [] : apiKey;
  const onlyKey = fixedKeys.length === 1 ? fixedKeys[0] : undefined;
  const staticHeaders = { ...(onlyKey === undefined ? {} : keyHeaders(keyHeader, onlyKey)), ...headers };
  const streamHeaders = toRequestHeaders("text/event-stream", staticHeaders);
  const wholeHeaders = toRequestHeaders("application/json", staticHeaders);
  const usedKeys = new Set(fixedKeys);
  /** The same object as long as they are the same: it is asked for at each call. */
  let told: UpstreamSecrets | undefined;
  const variesKey = onlyKey === undefined && !(keyHeader in headers);
  /** One for each model, since upstreams limit keys for each model. */
  const rings = new LRUCache<string, KeyRing>({ max: mostModels });

  const callDirectly: CallDirectly = (
    { endpoint, model, stream, body, notice: signal, headers: further, ownKey: given },
    handover,
  ) => {
    const deployment = deploymentPaths ? `/deployments/${encodeURIComponent(model)}` : "";
    const path = `${basePath}${deployment}/${endpoint}${query}`;
    const usual = stream ? streamHeaders : wholeHeaders;
    const headers = further === undefined ? usual : { ...usual, ...further };
    if (given !== undefined) {
      const own = { ...withoutCredentials(headers), ...keyHeaders(keyHeader, given) };
      return transport.send({ path, headers: own, body, signal, handover });
    }
    if (!variesKey) return transport.send({ path, headers, body, signal, handover });
    const ring = rings.get(model) ?? new KeyRing();
    rings.set(model, ring);
    const send = (key: string) =>
      transport.send({ path, headers: { ...headers, ...keyHeaders(keyHeader, key) }, body, signal, handover });
    if (typeof apiKey !== "function") return callWithKeys(ring, apiKey, send);
    return readApiKeys(apiKey, { signal, maxMs: transportOptions.connectTimeoutMs }).then((keys) => {
      if (remember(usedKeys, keys)) told = undefined;
      return callWithKeys(ring, keys, send);
    });
  };
  const provider = {
    ...(operations === undefined ? undefined : { operations }),
    ...(dialect === undefined ? undefined : { dialect }),
    ...(ownKey === undefined ? undefined : { ownKey }),
    secrets: () => {
      told ??= secretsOf([...usedKeys], headers, `${transportOptions.origin}${basePath}${query}`);
      return told;
    },
    close: () => transport.close(),
  };
  return toDirectProvider(provider, callDirectly, options);
}

/** The catalog may change. Of so many models the rests of keys are remembered, those called last. */
const mostModels = 1000;

/** Of a function's keys, so many are remembered at least: those of calls that may still be in progress. */
const fewestUsedKeys = 16;

/** @returns whether there is a new one. */
function remember(used: Set<string>, keys: readonly string[]): boolean {
  if (keys.every((key) => key === "" || used.has(key))) return false;
  for (const key of keys) {
    // The newest stand last.
    used.delete(key);
    if (key !== "") used.add(key);
  }
  const most = Math.max(fewestUsedKeys, 2 * keys.length);
  for (const oldest of used) {
    if (used.size <= most) break;
    used.delete(oldest);
  }
  return true;
}

/** Vendors whose errors speak of the request alone. Routers repeat what others have said. */
const vendors =
  /(?:^|\.)(?:openai\.com|azure\.com|anthropic\.com|deepseek\.com|groq\.com|mistral\.ai|cohere\.com|jina\.ai)$/;

function secretsOf(
  usedKeys: readonly string[],
  headers: Readonly<Record<string, string>>,
  url: string,
): UpstreamSecrets {
  const { keys, texts } = headerSecrets(headers);
  return { keys: [...usedKeys, ...keys], texts, urls: [url], isVendor: vendors.test(new URL(url).hostname) };
}

/** An empty key is no key: what is left of an environment variable that is not set. */
function keyHeaders(name: string, apiKey: string): Record<string, string> {
  if (apiKey === "") return {};
  return { [name]: name === "authorization" ? `Bearer ${apiKey}` : apiKey };
}

function toRequestHeaders(accept: string, further: Readonly<Record<string, string>>): Record<string, string> {
  return {
    "content-type": "application/json",
    accept,
    // A compressor on the way would hold events back.
    "accept-encoding": "identity",
    "user-agent": "infergate",
    ...further,
  };
}

/** Loads the code of a transport. */
export type LoadTransport = () => Promise<{
  createTransport(options: TransportOptions): Transport | Promise<Transport>;
}>;

/**
 * The transport of this runtime. Its code is loaded when it first sends something: undici takes half as long to load as
 * the whole gateway, and many processes that import a gateway call no model, such as those that build an app.
 */
export function createLateTransport(
  options: TransportOptions,
  load: LoadTransport = () => import("#transport"),
): Transport {
  let transport: Transport | undefined;
  const sendFirst = async (request: TransportRequest): Promise<DirectResponse> => {
    const made = await load()
      .then(({ createTransport }) => createTransport(options))
      .catch(notLoaded);
    // Several requests may have made one, as none waits for another's. The first sends for all.
    transport ??= made;
    return transport.send(request);
  };
  return {
    send: (request) => (transport === undefined ? sendFirst(request) : transport.send(request)),
    close: async () => transport?.close(),
  };
}

function notLoaded(cause: unknown): never {
  throw new UpstreamError("unreachable", "The code that calls model servers cannot be loaded.", { cause });
}
