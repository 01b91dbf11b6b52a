import type { GatewayRequest } from "../http/message.js";
import { anthropicProtocol } from "../operations/protocols/anthropic-protocol.js";
import type { ClientProtocol } from "../operations/protocols/client-protocol.js";
import { openAIProtocol } from "../operations/protocols/openai-protocol.js";
import { protocolOfClient } from "../operations/protocols/protocol-of-client.js";
import type { Path } from "./paths.js";

/**
 * The protocol of an operation is its own. Other endpoints use Anthropic's for a client that sends `anthropic-version`,
 * else OpenAI's.
 */
export function protocolOf(path: Path | undefined, request: GatewayRequest): ClientProtocol {
  if (path !== undefined && "operation" in path) return path.operation.protocol;
  if (path?.endpoint === "input_tokens") return openAIProtocol;
  return path?.endpoint === "count_tokens" ? anthropicProtocol : protocolOfClient((name) => request.header(name));
}
