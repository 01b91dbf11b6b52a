import type { ChatRequest } from "./chat-request.js";
import { elementsOf, type JsonMember, membersOf } from "./json-members.js";

/** A string of the request, as offsets of its quotes' insides. */
export interface TextSpan {
  start: number;
  end: number;
}

/** The texts of the messages: what a model certainly reads. Escapes are not resolved. */
export function* messageTexts({ body, members, leaps }: ChatRequest): Generator<TextSpan, void, void> {
  const messages = members.find(({ name }) => name === "messages");
  if (messages === undefined) return;
  for (const message of elementsOf(body, messages.start, leaps)) {
    const content = find(membersOf(body, message, Number.POSITIVE_INFINITY, leaps), "content");
    if (content === undefined) continue;
    if (body[content.start] === 0x22) yield inside(content);
    if (body[content.start] !== 0x5b) continue;
    for (const part of elementsOf(body, content.start, leaps)) {
      if (body[part] !== 0x7b) continue;
      const text = find(membersOf(body, part, Number.POSITIVE_INFINITY, leaps), "text");
      if (text !== undefined && body[text.start] === 0x22) yield inside(text);
    }
  }
}

function find(members: readonly JsonMember[], name: string): JsonMember | undefined {
  return members.find((member) => member.name === name);
}

function inside({ start, end }: JsonMember): TextSpan {
  return { start: start + 1, end: end - 1 };
}
