import { elementsOf } from "../../wire/json-members.js";
import { imageMedia } from "../media/media-kind.js";
import { type Media, valueMedia } from "../media/message-media.js";
import type { InputItem } from "./input-outline.js";
import type { ResponsesRequest } from "./responses-request.js";

/** Media of an input, and where it stands. */
export interface InputMedia extends Media {
  /** Such as `input[0].content[1]`. */
  readonly path: string;
}

/**
 * The images, audio and files of the input, in their order: those of messages, of what tools gave, and those that a server
 * has made.
 * @throws GatewayError 400 when there is more of it than anybody looks at.
 */
export function inputMedia(request: ResponsesRequest): InputMedia[] {
  return (request.items ?? []).flatMap((item, index) => {
    if (item.type === "image_generation_call") return madeImage(request, item, index);
    return item.contents.flatMap(({ start }) => contentMedia(request, start, index));
  });
}

function contentMedia({ body, leaps }: ResponsesRequest, start: number, item: number): InputMedia[] {
  if (body[start] === 0x7b) return withPath(body, start, item, undefined);
  if (body[start] !== 0x5b) return [];
  return elementsOf(body, start, leaps).flatMap((part, index) => withPath(body, part, item, index));
}

function withPath(body: Uint8Array, start: number, item: number, part: number | undefined): InputMedia[] {
  const path = `input[${item}]${part === undefined ? "" : `.content[${part}]`}`;
  return valueMedia(body, start).map((media) => ({ ...media, message: item, part, path }));
}

/** Its pixels stand in the item itself. */
function madeImage({ body }: ResponsesRequest, { start, end, result }: InputItem, index: number): InputMedia[] {
  if (result === undefined || body[result.start] !== 0x22) return [];
  const path = `input[${index}]`;
  return [{ start, end, kind: imageMedia, hasImage: true, values: [result], message: index, part: undefined, path }];
}
