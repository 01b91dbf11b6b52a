import { createTransport } from "#transport";
import { type CallDirectly, toDirectProvider } from "./direct-call.js";
import { headerSecrets } from "./header-secrets.js";
import {
  type CheckedOpenAICompatibleOptions,
  checkOpenAICompatibleOptions,
  type OpenAICompatibleOptions,
} from "./openai-compatible-options.js";
import { readApiKey } from "./read-api-key.js";
import { createFetchTransport } from "./transport/fetch-transport.js";
import type { UpstreamProvider } from "./upstream-provider.js";

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
  const { basePath, query, apiKey, headers, operations, dialect, transport: transportOptions } = options;
  const { keyHeader = "authorization", deploymentPaths = false } = dialect ?? {};
  const transport = transportOptions.fetch ? createFetchTransport(transportOptions) : createTransport(transportOptions);
  const staticHeaders = { ...(typeof apiKey === "string" ? keyHeaders(keyHeader, apiKey) : {}), ...headers };
  const streamHeaders = toRequestHeaders("text/event-stream", staticHeaders);
  const wholeHeaders = toRequestHeaders("application/json", staticHeaders);
  const usedKeys = new Set<string>(typeof apiKey === "string" ? [apiKey] : []);
  const currentKey = typeof apiKey === "function" && !(keyHeader in headers) ? apiKey : undefined;

  const callDirectly: CallDirectly = (
    { endpoint, model, stream, body, notice: signal, headers: further },
    handover,
  ) => {
    const deployment = deploymentPaths ? `/deployments/${encodeURIComponent(model)}` : "";
    const path = `${basePath}${deployment}/${endpoint}${query}`;
    const usual = stream ? streamHeaders : wholeHeaders;
    const headers = further === undefined ? usual : { ...usual, ...further };
    if (currentKey === undefined) return transport.send({ path, headers, body, signal, handover });
    return readApiKey(currentKey, signal).then((key) => {
      remember(usedKeys, key);
      return transport.send({ path, headers: { ...headers, ...keyHeaders(keyHeader, key) }, body, signal, handover });
    });
  };
  const provider = {
    ...(operations === undefined ? undefined : { operations }),
    ...(dialect === undefined ? undefined : { dialect }),
    secrets: () => {
      const { keys, texts } = headerSecrets(headers);
      return { keys: [...usedKeys, ...keys], texts, urls: [`${transportOptions.origin}${basePath}${query}`] };
    },
    close: () => transport.close(),
  };
  return toDirectProvider(provider, callDirectly);
}

/** Of a function's keys, those of calls that may still be in progress. */
const mostUsedKeys = 16;

function remember(used: Set<string>, key: string): void {
  if (key === "" || used.has(key)) return;
  used.add(key);
  for (const oldest of used) {
    if (used.size <= mostUsedKeys) break;
    used.delete(oldest);
  }
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
    // A compressor on the way would hold events back, and nothing here decompresses.
    "accept-encoding": "identity",
    "user-agent": "infergate",
    ...further,
  };
}
