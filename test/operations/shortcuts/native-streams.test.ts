import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { pingEvent } from "../../../src/anthropic/event-frame.js";
import { MessageStream } from "../../../src/anthropic/messages/message-stream.js";
import { ChatCodec } from "../../../src/openai/chat/chat-codec.js";
import { NativeResponseStream } from "../../../src/openai/responses/native/native-response-stream.js";
import { answerContext } from "../../support/answer-context.js";
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
