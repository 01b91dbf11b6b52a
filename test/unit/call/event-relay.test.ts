import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { EventRelay } from "../../../src/call/relay/event-relay.js";
import { ChatCodec } from "../../../src/protocols/chat/chat-codec.js";
import { ByteWriter } from "../../../src/wire/bytes.js";
import { answerContext } from "../../support/answer-context.js";
import { relayPieces } from "../../support/relay-pieces.js";

interface Outcome {
  sent: string;
  fault: string | undefined;
  tokens: object;
  complete: boolean;
}

/** Relays the bytes, cut up at these places. */
function relay(bytes: Buffer, cuts: readonly number[], useShortcut: boolean, includeUsage = false): Outcome {
  const codec = new ChatCodec(answerContext(), includeUsage);
  const { sent, fault } = relayPieces(codec, bytes, cuts, useShortcut);
  // Ids that the gateway makes up differ each time.
  const all = sent.toString("latin1").replace(/call_[0-9a-f]{32}/g, "call_made_up");
  return { sent: all, fault, tokens: codec.progress.tokens, complete: codec.progress.isComplete };
}

const text = fc.oneof(
  fc.string({ maxLength: 12 }),
  fc.string({ unit: "grapheme", maxLength: 6 }),
  fc.constantFrom("", " the", '"', "\\", "\n", "\u0000", "\ud800", "é", "👋", "</s>", '"},'),
);

/** How servers write their chunks, with what varies from chunk to chunk. */
const shapes: Record<string, (text: string, padding: string) => object> = {
  openai: (content, obfuscation) => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 5,
    model: "up",
    choices: [{ index: 0, delta: { content }, logprobs: null, finish_reason: null }],
    usage: null,
    obfuscation,
  }),
  padded: (content, obfuscation) => ({
    obfuscation,
    id: "1",
    choices: [{ index: 0, delta: { content }, finish_reason: null }],
  }),
  ollama: (content) => ({
    id: "chatcmpl-1",
    object: "chat.completion.chunk",
    created: 5,
    model: "up",
    choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason: null }],
  }),
  reasoning: (reasoning_content) => ({
    id: "chatcmpl-1",
    model: "acme/small",
    choices: [{ delta: { content: null, reasoning_content }, index: 0 }],
  }),
  secondChoice: (content) => ({ id: "chatcmpl-1", choices: [{ index: 1, delta: { content }, finish_reason: null }] }),
  noIndex: (content) => ({ id: "chatcmpl-1", choices: [{ delta: { content } }] }),
  tool: (argument) => ({
    id: "chatcmpl-1",
    choices: [{ index: 0, delta: { tool_calls: [{ index: 0, id: "a", function: { arguments: argument } }] } }],
  }),
  cumulative: (content) => ({
    id: "chatcmpl-1",
    choices: [{ index: 0, delta: { content } }],
    usage: { prompt_tokens: 1, completion_tokens: content.length, total_tokens: 1 },
  }),
  finish: (content) => ({ id: "chatcmpl-1", choices: [{ index: 0, delta: { content }, finish_reason: "stop" }] }),
  usage: () => ({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 4, total_tokens: 7 } }),
};

const chunk = fc
  .tuple(
    fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("openai", "ollama", "reasoning", "padded") },
      { weight: 3, arbitrary: fc.constantFrom(...Object.keys(shapes)) },
    ),
    fc.array(fc.tuple(text, text), { minLength: 1, maxLength: 6 }),
    fc.constantFrom("data: ", "data: ", "data: ", "data:", "id: 5\ndata: ", ": x\n\ndata: "),
    fc.constantFrom("\n\n", "\n\n", "\n\n", "\r\n\r\n", "\n\n\n"),
    fc.boolean(),
  )
  .map(([shape, texts, before, after, ascii]) =>
    texts
      .map(([content, padding]) => {
        const json = JSON.stringify(shapes[shape]?.(content, padding));
        const escaped = json.replace(
          /[\u0080-\uffff]/g,
          (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`,
        );
        return `${before}${ascii ? escaped : json}${after}`;
      })
      .join(""),
  );

const stray = fc.constantFrom(
  "data: [DONE]\n\n",
  ": ping\n\n",
  "data: {\n\n",
  'data: {"error":{"message":"x"}}\n\n',
  "data\n\n",
  "\n",
);

const streams = fc
  .array(fc.oneof({ weight: 8, arbitrary: chunk }, { weight: 1, arbitrary: stray }), { maxLength: 8 })
  .map((parts) => Buffer.from(parts.join("")));

describe("ChatEventRelay", () => {
  it("sends the same with and without the shortcut, however the bytes are split", () => {
    fc.assert(
      fc.property(streams, fc.array(fc.nat(3000), { maxLength: 12 }), fc.boolean(), (bytes, cuts, includeUsage) => {
        const parsed = relay(bytes, [], false, includeUsage);
        expect(relay(bytes, cuts, true, includeUsage)).toEqual(parsed);
        expect(relay(bytes, [], true, includeUsage)).toEqual(parsed);
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 400) },
    );
  });

  it("counts the same where the texts of two choices take turns, which some events bring unparsed", () => {
    const chunkOf = (index: number, content: string) =>
      `data: ${JSON.stringify({ id: "1", model: "up", choices: [{ index, delta: { content } }] })}\n\n`;
    const turns = [0, 0, 1, 0, 0, 1, 1, 0].map((index) => chunkOf(index, `${index}23`));
    const bytes = Buffer.from(turns.join(""));
    const parsed = relay(bytes, [], false);
    expect(relay(bytes, [], true)).toEqual(parsed);
    // Three digits each; a space at each change of turns joins no token of digits.
    expect(parsed.tokens).toMatchObject({ output: 8 * 3 + 4 });
  });

  it("sends the same for runs of events that come together, most of them unparsed", () => {
    const word = fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("", " the", "é", "你好", "👋", "\n", '"', "\\", '"},', "x".repeat(100)) },
      { weight: 1, arbitrary: text },
    );
    // The ends of one event and the beginning of the next make a joint, which grows and shrinks with what is changed in it.
    const names = fc.constantFrom("acme/small", "acme/other", "up", "a-far/longer-name-than-the-client-has");
    const layouts: ((content: string, padding: string, model: string) => object)[] = [
      (content, padding, model) => ({
        model,
        id: "1",
        choices: [{ index: 0, delta: { content } }],
        obfuscation: padding,
      }),
      (content, padding, model) => ({
        obfuscation: padding,
        choices: [{ index: 0, delta: { content } }],
        model,
        id: "1",
      }),
      (content, _padding, model) => ({
        choices: [{ delta: { content }, index: 0 }],
        id: "chatcmpl-1",
        usage: null,
        model,
      }),
    ];
    const run = fc
      .tuple(fc.constantFrom(...layouts), names, fc.array(fc.tuple(word, word), { minLength: 3, maxLength: 20 }))
      .map(([layout, model, words]) =>
        words.map(([content, padding]) => `data: ${JSON.stringify(layout(content, padding, model))}\n\n`),
      );
    const spoilt = fc.tuple(fc.nat(), fc.constantFrom("data: {}\n\n", ": ping\n\n", "\n", "data: [DONE]\n\n"));
    let events = 0;
    const push = vi.spyOn(ChatCodec.prototype, "event");
    let pushes = 0;
    fc.assert(
      fc.property(
        fc.array(run, { minLength: 1, maxLength: 3 }),
        fc.option(spoilt),
        fc.array(fc.nat(20_000), { maxLength: 8 }),
        fc.boolean(),
        (runs, spoiler, cuts, includeUsage) => {
          const parts = runs.flat();
          if (spoiler !== null) parts.splice(spoiler[0] % parts.length, 0, spoiler[1]);
          const bytes = Buffer.from(parts.join(""));
          const places = cuts.map((cut) => cut % bytes.length);
          const parsed = relay(bytes, [], false, includeUsage);
          push.mockClear();
          expect(relay(bytes, places, true, includeUsage)).toEqual(parsed);
          if (spoiler === null) {
            events += parts.length;
            pushes += push.mock.calls.length;
          }
        },
      ),
      { numRuns: Number(process.env["FC_RUNS"] ?? 400) },
    );
    push.mockRestore();
    expect(pushes).toBeLessThan(events * 0.7);
  });

  it("sends the same for bytes that are broken in any way", () => {
    const damage = fc.array(
      fc.tuple(fc.nat(3000), fc.constantFrom(0x00, 0x0a, 0x0d, 0x22, 0x5c, 0x7d, 0x80, 0xc3, 0xff)),
      { maxLength: 3 },
    );
    fc.assert(
      fc.property(streams, damage, fc.array(fc.nat(3000), { maxLength: 6 }), (bytes, changes, cuts) => {
        const damaged = Buffer.from(bytes);
        for (const [at, byte] of changes) if (damaged.length > 0) damaged[at % damaged.length] = byte;
        expect(relay(damaged, cuts, true)).toEqual(relay(damaged, [], false));
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 400) },
    );
  });

  it("takes a byte order mark for one at the very beginning alone, with and without the shortcut", () => {
    const event = (word: string) => `data: ${JSON.stringify(shapes["openai"]?.(word, "x"))}\n\n`;
    const bytes = Buffer.from(
      ["one", "two", "three", "\ufeff", "four", "five"].map((w) => (w === "\ufeff" ? w : event(w))).join(""),
    );
    expect(relay(bytes, [], true)).toEqual(relay(bytes, [], false));
    expect(relay(bytes, [], true).sent).not.toContain("four");
  });

  it("gives each event before the next one arrives", () => {
    const events = new EventRelay(new ChatCodec(answerContext(), false), { maxEventBytes: 1000 });
    for (const word of ["one", "two", "three", "four"]) {
      const out = new ByteWriter(1);
      events.read(Buffer.from(`data: ${JSON.stringify(shapes["openai"]?.(word, "x"))}\n\n`), out);
      expect(out.finish().toString()).toContain(word);
    }
  });
});
