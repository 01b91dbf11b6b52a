import { createTransport } from "#transport";
import { createFetchTransport } from "./fetch-transport.js";
import { checkOpenAICompatibleOptions, type OpenAICompatibleOptions } from "./openai-compatible-options.js";
import { readApiKey } from "./read-api-key.js";
import type { UpstreamProvider } from "./upstream-provider.js";

export type { OpenAICompatibleOptions } from "./openai-compatible-options.js";

/**
 * A model server that speaks OpenAI's API: OpenAI itself, vLLM, llama.cpp, Ollama, LM Studio, OpenRouter, Groq, …
 *
 * A failed call is not repeated: the model may have run although nothing of its answer arrived.
 * @throws TypeError when an option is not valid.
 */
export function openAICompatible(options: OpenAICompatibleOptions): UpstreamProvider {
  const { basePath, query, apiKey, headers, transport: transportOptions } = checkOpenAICompatibleOptions(options);
  const transport = transportOptions.fetch ? createFetchTransport(transportOptions) : createTransport(transportOptions);
  const staticHeaders = { ...(typeof apiKey === "string" ? authorization(apiKey) : {}), ...headers };
  const streamHeaders = toRequestHeaders("text/event-stream", staticHeaders);
  const wholeHeaders = toRequestHeaders("application/json", staticHeaders);
  const currentKey = typeof apiKey === "function" && !("authorization" in headers) ? apiKey : undefined;

  return {
    call(call) {
      const { endpoint, stream, body } = call;
      const signal = call.notice ?? call.signal;
      const path = `${basePath}/${endpoint}${query}`;
      const headers = stream ? streamHeaders : wholeHeaders;
      if (currentKey === undefined) return transport.send({ path, headers, body, signal });
      return readApiKey(currentKey, signal).then((key) =>
        transport.send({ path, headers: { ...headers, ...authorization(key) }, body, signal }),
      );
    },
    close: () => transport.close(),
  };
}

/** An empty key is no key: what is left of an environment variable that is not set. */
function authorization(apiKey: string): Record<string, string> {
  return apiKey === "" ? {} : { authorization: `Bearer ${apiKey}` };
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
