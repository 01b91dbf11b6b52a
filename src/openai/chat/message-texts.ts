import { memberOf } from "../../wire/json-members.js";
import type { ChatRequest } from "./chat-request.js";
import { type MessageOutline, outlineMessages, type Span } from "./message-outline.js";

/** A request whose messages were checked. */
export type Outlined = Pick<ChatRequest, "body" | "members" | "leaps" | "outline">;

/** A string of the request, as offsets of its quotes' insides. */
export type TextSpan = Span;

/** The texts of the messages: what a model certainly reads. Escapes are not resolved. */
export function messageTexts(request: Outlined): Iterable<TextSpan> {
  return outlineOf(request).texts;
}

/** What was noted when the request was checked; of a short one nothing was, and it is quickly gone through again. */
export function outlineOf({ body, members, leaps, outline }: Outlined): MessageOutline {
  return outline ?? outlineMessages(body, memberOf(members, "messages"), leaps);
}
