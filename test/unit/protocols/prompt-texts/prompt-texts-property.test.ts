import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, it } from "vitest";
import { chatLayout } from "../../../../src/protocols/chat/chat-completions.js";
import { messagesLayout } from "../../../../src/protocols/messages/messages.js";
import { responsesLayout } from "../../../../src/protocols/responses/responses.js";
import { inputLayout, type PromptLayout } from "../../../../src/protocols/shared/prompt-layout.js";
import { findPromptTexts, replaceTexts } from "../../../../src/protocols/shared/prompt-texts.js";
import { chatTurns, conversations, messagesTurns } from "../../../support/translate/conversations.js";
import { spelled } from "./spelled.js";

type Json = Record<string, unknown>;

const anyText = fc.string({ unit: fc.oneof(fc.constantFrom("\ud83d", '"', "\\", "\n", "é", "😀"), fc.string()) });

/** JSON that a model may have called a tool with. A member `__proto__` is refused before. */
const argument = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    anyText,
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.constantFrom(null, true),
    fc.array(tie("value"), { maxLength: 3 }),
    fc.dictionary(
      fc.oneof(fc.constantFrom("type", "role", "data", "url", "text", "a b", "é"), anyText).filter(isPlain),
      tie("value"),
      { maxKeys: 3, noNullPrototype: true },
    ),
  ),
})).value;

function isPlain(name: string): boolean {
  return name !== "__proto__";
}

/** Each protocol's way to say a text, and to hand arguments to a tool. */
const requests: readonly { layout: PromptLayout; of: (text: string, argument: unknown) => Json; called?: string }[] = [
  {
    layout: chatLayout,
    called: "messages[1].tool_calls[0].function.arguments",
    of: (text, value) => ({
      model: "m",
      messages: [
        {
          role: "user",
          content: [
            { type: "text", text },
            { type: "image_url", image_url: { url: "data:," } },
          ],
        },
        { role: "assistant", content: text, tool_calls: [{ id: "c", function: { name: "f", arguments: value } }] },
      ],
    }),
  },
  {
    layout: messagesLayout,
    called: "messages[0].content[0].input",
    of: (text, value) => ({
      system: text,
      messages: [{ role: "assistant", content: [{ type: "tool_use", id: "t", name: "f", input: value }] }],
    }),
  },
  {
    layout: responsesLayout,
    called: "input[1].arguments",
    of: (text, value) => ({
      instructions: text,
      input: [
        { role: "user", content: [{ type: "input_text", text }] },
        { type: "mcp_call", id: "mcp_1", name: "f", server_label: "s", arguments: value, output: text },
      ],
    }),
  },
  { layout: inputLayout, of: (text) => ({ input: [text, "b", text] }) },
];

const anyRequest = fc
  .record({ kind: fc.constantFrom(...requests), text: anyText, value: argument })
  .map(({ kind, text, value }) => ({ ...kind, json: kind.of(text, value), value }));

/** All strings, and names that are no words, unless a string stands under them. */
function stringsIn(value: unknown): string[] {
  if (typeof value === "string") return [value];
  if (Array.isArray(value)) return value.flatMap(stringsIn);
  if (typeof value !== "object" || value === null) return [];
  return Object.entries(value).flatMap(([name, member]) => [
    ...(typeof member === "string" || /^[!-~]*$/.test(name) ? [] : [name]),
    ...stringsIn(member),
  ]);
}

/** The names and indexes of a path. */
function stepsOf(path: string): (string | number)[] {
  return [...path.matchAll(/\[(\d+)\]|\[("(?:[^"\\]|\\.)*")\]|\.?([A-Za-z_$][\w$]*)/gy)].map(
    ([, index, quoted, name]) =>
      index !== undefined ? Number(index) : quoted !== undefined ? String(JSON.parse(quoted)) : String(name),
  );
}

function at(json: unknown, steps: readonly (string | number)[]): unknown {
  return steps.reduce((value, step) => (value as Record<string | number, unknown>)[step], json);
}

function textOf(body: Buffer, { start, end }: { start: number; end: number }): string {
  return String(JSON.parse(body.toString("utf8", start, end)));
}

describe("the texts of any prompt", () => {
  it("stand where their paths say, each once, and in order", () => {
    fc.assert(
      fc.property(anyRequest, fc.infiniteStream(fc.nat(9)), ({ layout, json }, pick) => {
        const body = spelled(json, pick);
        const found = findPromptTexts(body, layout);
        assert.deepEqual(
          found.map((span) => textOf(body, span)),
          found.map(({ path, isName }) => (isName ? stepsOf(path).at(-1) : at(json, stepsOf(path)))),
        );
        assert.equal(new Set(found.map(({ path }) => path)).size, found.length);
        for (const [index, { start }] of found.entries()) assert(start > (found[index - 1]?.end ?? 0));
      }),
      { numRuns: 1000 },
    );
  });

  it("are all strings that a tool is called with, whatever they are called", () => {
    fc.assert(
      fc.property(anyRequest, fc.infiniteStream(fc.nat(9)), ({ layout, json, value, called }, pick) => {
        if (called === undefined) return;
        const body = spelled(json, pick);
        const found = findPromptTexts(body, layout).filter(({ path }) => path.startsWith(called));
        assert.deepEqual(
          found.map((span) => textOf(body, span)),
          stringsIn(value),
        );
        assert(found.every(({ role }) => role === "assistant"));
      }),
      { numRuns: 1000 },
    );
  });

  it("are replaced one by one, and no other byte changes", () => {
    fc.assert(
      fc.property(anyRequest, fc.infiniteStream(fc.nat(9)), fc.nat(), anyText, ({ layout, json }, pick, nth, text) => {
        const body = spelled(json, pick);
        const found = findPromptTexts(body, layout);
        const span = found[nth % found.length];
        if (span === undefined) return;
        const before = textOf(body, span);
        const edited = Buffer.from(replaceTexts(body, found, new Map([[span.path, text]])));
        if (text === before) assert.equal(edited.compare(body), 0);
        const end = edited.length - (body.length - span.end);
        assert.equal(edited.subarray(0, span.start).compare(body.subarray(0, span.start)), 0);
        assert.equal(edited.subarray(end).compare(body.subarray(span.end)), 0);
        assert.equal(textOf(edited, { start: span.start, end }), text);
        if (found.some(({ isName }) => isName)) return;
        assert.deepEqual(
          findPromptTexts(edited, layout).map(({ path, role }) => [path, role]),
          found.map(({ path, role }) => [path, role]),
        );
      }),
      { numRuns: 1000 },
    );
  });

  it("change no byte where each is replaced by itself", () => {
    fc.assert(
      fc.property(anyRequest, fc.infiniteStream(fc.nat(9)), ({ layout, json }, pick) => {
        const body = spelled(json, pick);
        const found = findPromptTexts(body, layout);
        const same = new Map(found.map((span) => [span.path, textOf(body, span)]));
        assert.equal(replaceTexts(body, found, same), body);
      }),
    );
  });

  it("are all that a conversation says, calls a tool with and gets from it, each once", () => {
    const words = (text: string) => (text.match(/(?:text|input|result)\d+/g) ?? []).sort();
    fc.assert(
      fc.property(conversations, (conversation) => {
        for (const { layout, messages } of [
          { layout: chatLayout, messages: chatTurns(conversation) },
          { layout: messagesLayout, messages: messagesTurns(conversation) },
        ]) {
          const body = Buffer.from(JSON.stringify({ model: "m", messages }));
          const texts = findPromptTexts(body, layout).map((span) => textOf(body, span));
          assert.deepEqual(words(texts.join(" ")), words(JSON.stringify(messages)));
        }
      }),
      { numRuns: 500 },
    );
  });
});
