import { type MessageOutline, outlineMessages, type Span } from "../../model-api/prompt/message-outline.js";
import type { JsonRequest } from "../../model-api/request/json-request.js";
import { memberOf } from "../../wire/json-members.js";

/** A request whose messages were checked. */
export type Outlined = Pick<JsonRequest, "body" | "members" | "leaps"> & { readonly outline: MessageOutline | undefined };

/** The position of a string, without its quotes. */
export type TextSpan = Span;

/** The texts of the messages, which a model certainly reads. Escapes are not resolved. */
export function messageTexts(request: Outlined): Iterable<TextSpan> {
  return outlineOf(request).texts;
}

/** The outline from the check of the request. A short request has none: it is computed again. */
export function outlineOf({ body, members, leaps, outline }: Outlined): MessageOutline {
  return outline ?? outlineMessages(body, memberOf(members, "messages"), leaps);
}
