import { addressAt, kindOfAddress } from "../../model-api/media/media-address.js";
import { imageMedia } from "../../model-api/media/media-kind.js";
import { type Media, strayMedia, valueMedia } from "../../model-api/media/message-media.js";
import { elementsOf } from "../../wire/json-members.js";
import type { InputItem } from "./input-outline.js";
import type { ResponsesRequest } from "./responses-request.js";

/**
 * The images, audio and files of the input, in their order: in messages, in outputs of tools, and made by a server.
 * @returns each with the index of its item and, if it is in a list, of its part.
 * @throws GatewayError 400 when there is more than the limit.
 */
export function inputMedia(request: ResponsesRequest): Media[] {
  return (request.items ?? []).flatMap((item, index) => {
    if (item.type === "image_generation_call") return madeImage(request, item, index);
    const media = item.contents.flatMap(({ start }) => contentMedia(request, start, index));
    const strays = strayMedia(
      request.body,
      item.start,
      request.leaps,
      item.contents.map(({ start }) => start),
    );
    return [...media, ...strays.map((stray) => ({ ...stray, message: index }))];
  });
}

function contentMedia({ body, leaps }: ResponsesRequest, start: number, item: number): Media[] {
  if (body[start] === 0x7b) return inPlace({ body, leaps }, start, item, undefined);
  if (body[start] !== 0x5b) return [];
  return elementsOf(body, start, leaps).flatMap((part, index) => inPlace({ body, leaps }, part, item, index));
}

function inPlace(
  { body, leaps }: Pick<ResponsesRequest, "body" | "leaps">,
  start: number,
  item: number,
  part: number | undefined,
): Media[] {
  const found = valueMedia(body, start, leaps);
  return found.length === 0 ? found : found.map((media) => ({ ...media, message: item, part }));
}

/** The pixels of a generated image are in the item itself. */
function madeImage({ body }: ResponsesRequest, { start, end, result }: InputItem, index: number): Media[] {
  if (result === undefined || body[result.start] !== 0x22) return [];
  return [
    {
      start,
      end,
      kind: Math.max(imageMedia, kindOfAddress(addressAt(body, result.start))),
      hasImage: true,
      isStray: false,
      values: [result],
      message: index,
      part: undefined,
    },
  ];
}
