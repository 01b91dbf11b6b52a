import { asBuffer } from "../../wire/as-buffer.js";
import { ByteWriter } from "../../wire/byte-writer.js";
import type { Media } from "./message-media.js";

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
