import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { ChatCodec } from "../../../../src/protocols/chat/chat-codec.js";
import { MessageStream } from "../../../../src/protocols/messages/message-stream.js";
import { pingEvent } from "../../../../src/protocols/messages/message-to-events.js";
import { NativeResponseStream } from "../../../../src/protocols/responses/native-response-stream.js";
import { answerContext } from "../../../support/answer-context.js";
import { anyStream, cuts, damage, damaged } from "./any-stream.js";
import { type EventCodec, relayCut } from "./relay-both-ways.js";
import { chatEvents, messagesEvents, responsesEvents } from "./upstream-events.js";

const responseContext = { ...answerContext(), responseId: "resp_own", createdAt: 1_763_000_000, isStored: false };

const protocols = [
  {
    name: "chat completions",
    events: chatEvents,
    create: (): EventCodec => new ChatCodec(answerContext(), true),
  },
  {
    name: "Responses",
    events: responsesEvents,
    create: (): EventCodec => new NativeResponseStream({ ...responseContext, previousResponseId: undefined }),
  },
  {
    name: "Messages",
    events: messagesEvents,
    create: (): EventCodec => Object.assign(new MessageStream(answerContext()), { keepAlive: () => pingEvent }),
  },
];

describe.each(protocols)("a stream of $name, from a server that speaks it", ({ events, create }) => {
  it("is the same with and without the shortcut, however the bytes are split", () => {
    let parsed = 0;
    let all = 0;
    fc.assert(
      fc.property(anyStream(events), cuts, (bytes, places) => {
        const expected = relayCut(create(), bytes, [], false);
        expect(relayCut(create(), bytes, places, true)).toEqual(expected);
        const codec = create();
        const event = vi.spyOn(codec, "event");
        expect(relayCut(codec, bytes, [], true)).toEqual(expected);
        parsed += event.mock.calls.length;
        all += countOf(bytes);
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 400) },
    );
    expect(parsed).toBeLessThan(all * 0.9);
  });

  it("is the same for bytes that are broken in any way", () => {
    fc.assert(
      fc.property(anyStream(events), damage, cuts, (bytes, changes, places) => {
        const broken = damaged(bytes, changes);
        expect(relayCut(create(), broken, places, true)).toEqual(relayCut(create(), broken, [], false));
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 400) },
    );
  });
});

function countOf(bytes: Buffer): number {
  return bytes.toString("latin1").split("\ndata:").length;
}

it("knows of a delta behind the end of a block that more is to come, also where it is passed", () => {
  const create = (): EventCodec => Object.assign(new MessageStream(answerContext()), { keepAlive: () => pingEvent });
  const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "word" } };
  const events = [...messagesEvents.begin, delta, delta, { type: "content_block_stop", index: 0 }, delta];
  const bytes = Buffer.from(
    events.map((event) => `event: ${(event as { type: string }).type}\ndata: ${JSON.stringify(event)}\n\n`).join(""),
  );
  const seen = relayCut(create(), bytes, [], true);
  expect(seen).toEqual(relayCut(create(), bytes, [], false));
  expect(seen.progress).toMatchObject({ awaitsUsage: false });
});

it("knows that a model reasons whose first reasoning is empty", () => {
  const reasoning = ["", "", "", "Hm", " so"].map((reasoning_content) => ({
    ...{ id: "chatcmpl-1", object: "chat.completion.chunk", created: 5, model: "up" },
    choices: [{ index: 0, delta: { reasoning_content }, finish_reason: null }],
  }));
  const events = [...chatEvents.begin, ...reasoning];
  const bytes = Buffer.from(events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join(""));
  expect(relayCut(new ChatCodec(answerContext(), true), bytes, [], true).progress).toMatchObject({ reasons: true });
});

const long = "a long text. ".repeat(300);
const withLong = {
  delta: { type: "response.output_text.delta", output_index: 0, delta: "word" },
  done: { type: "response.output_text.done", output_index: 0, text: long },
  completed: {
    type: "response.completed",
    response: { id: "r", model: "up", output: [], instructions: long, usage: { input_tokens: 3, output_tokens: 4 } },
  },
};
const framed = (event: { type: string }) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;

it.each([
  ["whose usage has a long member", (text: string) => text.replace('"usage":{', `"usage":{"note":"${long}",`)],
  ["of which more lines come", (text: string) => text.replaceAll("\n\n", "\nid: 5\n\n")],
  ["with a space at its end", (text: string) => text.replaceAll("}\n\n", "} \n\n")],
  ["without a name", (text: string) => text.replaceAll(/event: .*\n/g, "")],
  ["with an empty name", (text: string) => text.replaceAll(/event: .*\n/g, "event: \n")],
  ["that says its response twice", (text: string) => text.replace('"response":', '"response":"none","response":')],
])("is the same with and without the shortcut where a long event comes %s", (_, changed) => {
  const { delta, done, completed } = withLong;
  const begin = responsesEvents.begin.map((event) => framed(event as { type: string })).join("");
  const text = begin + framed(delta) + changed(framed(done) + framed(done) + framed(completed));
  const create = () => new NativeResponseStream({ ...responseContext, previousResponseId: undefined });
  const seen = relayCut(create(), Buffer.from(text), [], true);
  expect(seen).toEqual(relayCut(create(), Buffer.from(text), [], false));
  expect(seen.fault).toBe(undefined);
});

it("reads no long text of a response that nothing is made of", () => {
  const { delta, done, completed } = withLong;
  const events = [...responsesEvents.begin, delta, delta, done, completed] as { type: string }[];
  const codec = new NativeResponseStream({ ...responseContext, previousResponseId: undefined });
  const parsed = vi.spyOn(codec, "event");
  const { progress } = relayCut(codec, Buffer.from(events.map(framed).join("")), [], true);
  expect(progress).toMatchObject({ isComplete: true, tokens: { input: 3, output: 4 } });
  expect(parsed.mock.calls.map(([{ event }]) => event)).not.toContain("response.output_text.done");
  expect(parsed.mock.calls.map(([{ event }]) => event)).not.toContain("response.completed");
});

/** A text that is an event of each protocol, with so many members of different names behind it. */
function textEvents(count: number) {
  const more = Object.fromEntries(Array.from({ length: count }, (_, index) => [`m${index}`, 1]));
  const choice = { index: 0, delta: { content: "word" }, finish_reason: null };
  return [
    { id: "1", object: "chat.completion.chunk", created: 5, model: "up", choices: [choice], ...more },
    { type: "response.output_text.delta", output_index: 0, delta: "word", ...more },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "word" }, ...more },
  ];
}

it.each(protocols.map((protocol, place) => ({ ...protocol, place })))(
  "reads events of very many members in their own time: a stream of $name",
  ({ events, create, place }) => {
    const parsedOf = (count: number) => {
      const event = textEvents(count)[place];
      const codec = create();
      const parsed = vi.spyOn(codec, "event");
      const framed = (json: object) => `data: ${JSON.stringify(json)}\n\n`;
      const bytes = Buffer.from([...events.begin, event, event, event].map((json) => framed(json as object)).join(""));
      relayCut(codec, bytes, [], true);
      return parsed.mock.calls.length - events.begin.length;
    };
    expect(parsedOf(10)).toBe(1);
    expect(parsedOf(300)).toBe(3);
    expect(parsedOf(4_000)).toBe(3);
  },
);
