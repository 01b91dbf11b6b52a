import { anthropicProtocol } from "./messages/anthropic-protocol.js";
import type { ClientProtocol } from "./shared/client-protocol.js";
import { openAIProtocol } from "./shared/openai-protocol.js";

/** What a client speaks, on paths that both families have: Anthropic's clients send the version of their API. */
export function protocolOfClient(header: (name: string) => string | undefined): ClientProtocol {
  return header("anthropic-version") === undefined ? openAIProtocol : anthropicProtocol;
}

/**
 * Whether only a client of a model sends such a request: it names the version of Anthropic's API, or its key has the form of
 * one for models.
 * @param keyPrefix - of the gateway's own keys.
 */
export function isModelClient(header: (name: string) => unknown, keyPrefix: string): boolean {
  if (header("anthropic-version") !== undefined) return true;
  const sent = header("x-api-key") ?? header("authorization");
  const key = typeof sent === "string" ? sent.replace(/^bearer +/i, "") : "";
  return key.startsWith("sk-") || key.startsWith(keyPrefix);
}

/** Whether a request carries an API key of whatever protocol: also an empty or malformed one. */
export function sendsCredential(header: (name: string) => string | undefined): boolean {
  return header("authorization") !== undefined || header("x-api-key") !== undefined;
}
