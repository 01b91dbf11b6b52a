import { openAIErrorBody } from "../../openai/openai-error-body.js";
import type { ClientProtocol } from "../protocols/client-protocol.js";
import { openAIProtocol } from "../protocols/openai-protocol.js";

/** Cohere's clients look for an error's `message` at the top; all others look into `error`. */
export const rerankProtocol: ClientProtocol = {
  ...openAIProtocol,
  errorBody: (error) => `{"message":${JSON.stringify(error.message)},${openAIErrorBody(error).slice(1)}`,
};
