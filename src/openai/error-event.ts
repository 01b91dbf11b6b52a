import { Buffer } from "node:buffer";
import type { GatewayError } from "../errors/gateway-error.js";
import { openAIErrorBody } from "./openai-error-body.js";

/** What ends a stream that has failed, as OpenAI's clients know it. */
export function errorEvent(error: GatewayError): Buffer {
  return Buffer.from(`data: ${openAIErrorBody(error)}\n\n`);
}
