import { GatewayError } from "../../errors/gateway-error.js";
import { messageMedia, type WithMessages } from "../media/message-media.js";

/** What a model cannot do, and what happens to requests that ask for it. */
export interface Lacking {
  readonly action: "refuse" | "drop";
  readonly tools: boolean;
  readonly reasoning: boolean;
  readonly vision: boolean;
}

/** The path of the first image. */
export function firstImage(request: WithMessages): string | undefined {
  const image = messageMedia(request).find(({ hasImage }) => hasImage);
  if (image === undefined) return undefined;
  const { message, part } = image;
  return `messages[${message}].${part === undefined ? "images" : `content[${part}]`}`;
}

/** A 400 for a feature that the model lacks. */
export function unsupportedByModel(model: string, param: string, what: string): GatewayError {
  return new GatewayError(`'${model}' does not support ${what}. Leave '${param}' out, or use another model.`, {
    status: 400,
    code: "unsupported_parameter",
    param,
  });
}
