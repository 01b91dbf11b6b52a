import { GatewayError } from "../../errors/gateway-error.js";
import { asBuffer, ByteWriter } from "../../wire/bytes.js";
import { type Media, messageMedia, type WithMessages } from "./message-media.js";

/** What a model cannot do, and what happens to requests that ask for it. */
export interface MissingCapabilities {
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

/** What a model that sees no images reads in the place of one. */
export const imageNotice = "[image omitted]";

/**
 * A request's body with other JSON in the place of each image; all else stays byte for byte.
 * @param media - what it holds, in order.
 * @returns `undefined` where there is no image.
 */
export function withoutImages(
  body: Uint8Array,
  media: readonly Media[],
  toNotice: (image: Media) => string,
): Uint8Array | undefined {
  const images = media.filter(({ hasImage }) => hasImage);
  if (images.length === 0) return undefined;
  const out = new ByteWriter(body.length);
  let from = 0;
  for (const image of images) {
    out.writeFrom(asBuffer(body), from, image.start);
    out.writeText(toNotice(image));
    from = image.end;
  }
  out.writeFrom(asBuffer(body), from, body.length);
  return out.finish();
}
