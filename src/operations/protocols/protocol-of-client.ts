import { anthropicProtocol } from "./anthropic-protocol.js";
import type { ClientProtocol } from "./client-protocol.js";
import { openAIProtocol } from "./openai-protocol.js";

/** What a client speaks, on paths that both families have: Anthropic's clients send the version of their API. */
export function protocolOfClient(header: (name: string) => string | undefined): ClientProtocol {
  return header("anthropic-version") === undefined ? openAIProtocol : anthropicProtocol;
}
