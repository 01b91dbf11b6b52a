import fc from "fast-check";
import type { Json } from "./chat-samples.js";

/** What one says, in the order in which it is said. Calls have a result, or none. */
export type Said = { kind: "text" } | { kind: "call"; isAnswered: boolean } | { kind: "system" };

export interface Turn {
  side: "user" | "assistant";
  said: Said[];
}

export type Conversation = readonly Turn[];

const said: fc.Arbitrary<Said> = fc.oneof(
  fc.constant({ kind: "text" as const }),
  fc.record({ kind: fc.constant("call" as const), isAnswered: fc.boolean() }),
  fc.constant({ kind: "system" as const }),
);

/** With a user's text somewhere, which every API insists on. */
export const conversations: fc.Arbitrary<Conversation> = fc
  .array(
    fc.record({ side: fc.constantFrom("user" as const, "assistant" as const), said: fc.array(said, { maxLength: 4 }) }),
    { maxLength: 6 },
  )
  .map((turns) => [{ side: "user", said: [{ kind: "text" }] }, ...turns]);

/** Names every text, input and result by a word of its own. */
function counter(): (kind: "text" | "input" | "result" | "toolu_") => string {
  let count = 0;
  return (kind) => `${kind}${++count}`;
}

/** The conversation as messages of a request for a message. */
export function messagesTurns(conversation: Conversation): Json[] {
  const next = counter();
  const messages: Json[] = [];
  for (const { side, said: all } of conversation) {
    const isUser = side === "user";
    const blocks: Json[] = [];
    const results: Json[] = [];
    for (const each of all) {
      if (each.kind === "text" || (isUser && each.kind === "call"))
        blocks.push({ type: "text", text: `${next("text")} ` });
      if (isUser || each.kind !== "call") continue;
      const id = next("toolu_");
      blocks.push({ type: "tool_use", id, name: "f", input: { x: next("input") } });
      if (each.isAnswered) results.push({ type: "tool_result", tool_use_id: id, content: next("result") });
    }
    if (blocks.length > 0) messages.push({ role: side, content: blocks });
    if (results.length > 0) messages.push({ role: "user", content: results });
    if (all.some(({ kind }) => kind === "system")) messages.push({ role: "system", content: next("text") });
  }
  return messages;
}

/** The conversation as messages of a request for a chat completion. */
export function chatTurns(conversation: Conversation): Json[] {
  const next = counter();
  const messages: Json[] = [];
  for (const { side, said: all } of conversation) {
    const texts: string[] = [];
    const calls: Json[] = [];
    const results: Json[] = [];
    for (const each of all) {
      if (each.kind === "text" || (side === "user" && each.kind === "call")) texts.push(next("text"));
      if (side === "user" || each.kind !== "call") continue;
      const id = next("toolu_");
      const input = JSON.stringify({ x: next("input") });
      calls.push({ id, type: "function", function: { name: "f", arguments: input } });
      if (each.isAnswered) results.push({ role: "tool", tool_call_id: id, content: next("result") });
    }
    const content = texts.join(" ");
    if (side === "user" && content !== "") messages.push({ role: "user", content });
    if (side === "assistant" && (content !== "" || calls.length > 0)) {
      messages.push({ role: "assistant", content, ...(calls.length > 0 && { tool_calls: calls }) });
    }
    messages.push(...results);
    if (all.some(({ kind }) => kind === "system")) messages.push({ role: "system", content: next("text") });
  }
  return messages;
}
