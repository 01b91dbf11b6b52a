import { Buffer } from "node:buffer";
import fc from "fast-check";
import { expect, it } from "vitest";
import {
  frameEvents,
  frameLate,
  RepeatedTexts,
  type ResponseEvent,
} from "../../../../src/protocols/responses/response-events.js";
import { wholeOutgoing } from "../../../../src/wire/slices.js";

const text = fc.oneof(
  fc.constantFrom("", "x".repeat(511), "é\n".repeat(300), '"\\'.repeat(400), "\ud800".repeat(600), "a".repeat(300_000)),
  fc.string({ unit: "grapheme" }).map((part) => part.repeat(600)),
);
const leaf = fc.oneof(text, fc.jsonValue({ maxDepth: 2 }), fc.constant(undefined));
const part = fc.dictionary(fc.constantFrom("type", "text", "refusal", "logprobs", "é"), leaf);
const item = fc.dictionary(fc.constantFrom("id", "arguments", "input"), leaf).chain((members) =>
  fc.record({
    ...Object.fromEntries(Object.entries(members).map(([name, value]) => [name, fc.constant(value)])),
    content: fc.oneof(fc.array(part, { maxLength: 3 }), leaf),
    summary: fc.array(part, { maxLength: 2 }),
  }),
);
const body = fc.oneof(
  fc.record({ delta: text }),
  fc.record({ part }),
  fc.record({ item }),
  fc.record({ response: fc.record({ output: fc.array(item, { maxLength: 3 }), tools: leaf, status: leaf }) }),
  fc.record({ text: leaf, part: leaf, item: leaf }),
);
const event = fc
  .tuple(fc.constantFrom("response.completed", "response.output_item.done"), fc.nat(), body)
  .map(([type, sequence_number, members]): ResponseEvent => ({ type, sequence_number, ...members }));

it("writes events the same, whether their texts are short, come again, or are written late", () => {
  fc.assert(
    fc.property(fc.array(fc.array(event, { maxLength: 4 }), { maxLength: 3 }), fc.boolean(), (frames, again) => {
      const texts = new RepeatedTexts();
      const all = again ? [...frames, ...frames] : frames;
      for (const events of all) {
        const expected = frameEvents(events).toString();
        for (const size of [0, 2000, 1e6]) {
          const sent = Buffer.from(wholeOutgoing(frameLate(events, size, texts))).toString();
          // Not by a comparison that would print megabytes.
          expect(sent === expected).toBe(true);
        }
      }
    }),
    { numRuns: Number(process.env["FC_RUNS"] ?? 60) },
  );
});
