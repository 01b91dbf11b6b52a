import type { ChatRequest } from "./chat-request.js";
import { elementsOf, type JsonMember, memberOf, membersOf } from "./json-members.js";

/** A string of the request, as offsets of its quotes' insides. */
export interface TextSpan {
  start: number;
  end: number;
}

/** The texts of the messages: what a model certainly reads. Escapes are not resolved. */
export function* messageTexts({ body, members, leaps }: ChatRequest): Generator<TextSpan, void, void> {
  const messages = memberOf(members, "messages");
  if (messages === undefined) return;
  for (const message of elementsOf(body, messages.start, leaps)) {
    const content = memberOf(membersOf(body, message, Number.POSITIVE_INFINITY, leaps), "content");
    if (content === undefined) continue;
    if (body[content.start] === 0x22) yield inside(content);
    if (body[content.start] !== 0x5b) continue;
    for (const part of elementsOf(body, content.start, leaps)) {
      if (body[part] !== 0x7b) continue;
      const text = memberOf(membersOf(body, part, Number.POSITIVE_INFINITY, leaps), "text");
      if (text !== undefined && body[text.start] === 0x22) yield inside(text);
    }
  }
}

function inside({ start, end }: JsonMember): TextSpan {
  return { start: start + 1, end: end - 1 };
}
