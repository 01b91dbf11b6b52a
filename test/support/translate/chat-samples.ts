import fc from "fast-check";
import { MessageToolNames } from "../../../src/protocols/translate/message-translation.js";
import { thoughtsOf } from "../own-seal.js";

export type Json = Record<string, unknown>;

export const head = { messageId: "msg_own1", model: "acme/large", requestId: "req_1", promptTokens: 100 };

export const translation = {
  toolNames: new MessageToolNames(),
  stopSequences: ["END"],
  thinking: "shown",
  thoughts: thoughtsOf("t1"),
} as const;

export const usage = { input: 100, cachedInput: 40, output: 20, reasoning: 0 };

export function chunk(delta: Json, finish: string | null = null, more: Json = {}): Json {
  return {
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 1,
    model: "acme/large",
    choices: [{ index: 0, delta, finish_reason: finish, ...more }],
  };
}

export function called(index: number, id: string | undefined, name: string | undefined, args: string): Json {
  return {
    tool_calls: [{ index, ...(id && { id, type: "function" }), function: { ...(name && { name }), arguments: args } }],
  };
}

/** A whole chat completion with text, thinking and calls, or some of them. */
export const completions: fc.Arbitrary<Json> = fc
  .record({
    reasoning: fc.option(fc.string({ unit: "grapheme", minLength: 1 }), { nil: undefined }),
    content: fc.option(fc.string({ unit: "grapheme" }), { nil: null }),
    calls: fc.array(
      fc.record({
        name: fc.stringMatching(/^[a-z_]{1,80}$/),
        // Requests with a member `__proto__` are refused, so that no answer of it would come back.
        input: fc
          .dictionary(fc.string(), fc.jsonValue(), { maxKeys: 3 })
          .filter((value) => !JSON.stringify(value).includes('"__proto__"')),
        id: fc.stringMatching(/^[A-Za-z0-9.:_-]{1,20}$/),
      }),
      { maxLength: 4 },
    ),
    finish: fc.constantFrom("stop", "length", "content_filter"),
  })
  .map(({ reasoning, content, calls, finish }) => ({
    choices: [
      {
        index: 0,
        message: {
          role: "assistant",
          content,
          ...(reasoning !== undefined && { reasoning_content: reasoning }),
          ...(calls.length > 0 && {
            tool_calls: calls.map(({ id, name, input }) => ({
              id,
              type: "function",
              function: { name, arguments: JSON.stringify(input) },
            })),
          }),
        },
        finish_reason: calls.length > 0 && finish === "stop" ? "tool_calls" : finish,
      },
    ],
  }));

/** The same completion as chunks, cut where the numbers say. */
export function cut(completion: Json, cuts: readonly number[]): Json[] {
  const [{ message, finish_reason: finish }] = (completion as { choices: [{ message: Json; finish_reason: string }] })
    .choices;
  let next = 0;
  const pieces = (text: unknown): string[] => {
    const found: string[] = [];
    for (let rest = typeof text === "string" ? text : ""; rest !== ""; ) {
      const length = 1 + ((cuts[next++ % cuts.length] ?? 0) % 7);
      found.push(rest.slice(0, length));
      rest = rest.slice(length);
    }
    return found;
  };
  const calls = (message["tool_calls"] ?? []) as { id: string; function: { name: string; arguments: string } }[];
  return [
    chunk({ role: "assistant", content: "" }),
    ...pieces(message["reasoning_content"]).map((text) => chunk({ reasoning_content: text })),
    ...pieces(message["content"]).map((text) => chunk({ content: text })),
    ...calls.flatMap(({ id, function: { name, arguments: text } }, index) => [
      chunk(called(index, id, name, "")),
      ...pieces(text).map((piece) => chunk(called(index, undefined, undefined, piece))),
    ]),
    chunk({}, finish),
    { id: "chatcmpl-1", choices: [], usage: { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 } },
  ];
}
