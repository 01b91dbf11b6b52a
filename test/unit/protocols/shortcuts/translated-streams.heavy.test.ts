import { Buffer } from "node:buffer";
import fc from "fast-check";
import { describe, expect, it, vi } from "vitest";
import { ChatClientSink } from "../../../../src/protocols/translate/chat-client-sink.js";
import type { ChatSink, ChatSource } from "../../../../src/protocols/translate/chat-source.js";
import { ChatTargetSource } from "../../../../src/protocols/translate/chat-target.js";
import { MessagesClientSink } from "../../../../src/protocols/translate/messages-client-sink.js";
import { MessagesTargetSource } from "../../../../src/protocols/translate/messages-target.js";
import { ResponsesClientSink } from "../../../../src/protocols/translate/responses-client-sink.js";
import { TranslatedExchange } from "../../../../src/protocols/translate/translated-exchange.js";
import { answerContext } from "../../../support/answer-context.js";
import { head, translation } from "../../../support/translate/chat-samples.js";
import { contextOf } from "../../../support/translate/responses-samples.js";
import { anyStream, cuts, damage, damaged } from "./any-stream.js";
import { relayCut } from "./relay-both-ways.js";
import { chatEvents, messagesEvents } from "./upstream-events.js";

const context = answerContext();
const body = new Uint8Array();
const chat = { events: chatEvents, source: (): ChatSource => new ChatTargetSource(body, context) };
const messages = { events: messagesEvents, source: (): ChatSource => new MessagesTargetSource(body, context) };
const clock = { now: () => 1_763_000_000_000 };
const toResponses = (): ChatSink => new ResponsesClientSink(contextOf(), { keep: async () => {} } as never, clock);
const toMessages = (): ChatSink => new MessagesClientSink(head, translation);
const toChat = (): ChatSink => new ChatClientSink(context, true);

const pairs = [
  { name: "Responses, from a server of chat completions", ...chat, sink: toResponses },
  { name: "Messages, from a server of chat completions", ...chat, sink: toMessages },
  { name: "chat completions, from a server of Messages", ...messages, sink: toChat },
  { name: "Responses, from a server of Messages", ...messages, sink: toResponses },
];

describe.each(pairs)("a stream of $name", ({ events, source, sink }) => {
  const create = () => new TranslatedExchange(source(), sink(), context).readStream();

  it("is the same with and without the shortcut, however the bytes are split", () => {
    let parsed = 0;
    let all = 0;
    fc.assert(
      fc.property(anyStream(events), cuts, (bytes, places) => {
        const without = create();
        const counted = vi.spyOn(without, "event");
        const expected = relayCut(without, bytes, [], false);
        all += counted.mock.calls.length;
        expect(relayCut(create(), bytes, places, true)).toEqual(expected);
        const codec = create();
        const event = vi.spyOn(codec, "event");
        expect(relayCut(codec, bytes, [], true)).toEqual(expected);
        parsed += event.mock.calls.length;
      }),
      { numRuns: Number(process.env["FC_RUNS"] ?? 400) },
    );
    expect(parsed).toBeLessThan(all);
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

it("gives a role to the first chunk alone, also where the upstream leaves the beginning out", () => {
  const delta = { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: " the" } };
  const bytes = Buffer.from(`data: {"type":"ping"}\n\n${`data: ${JSON.stringify(delta)}\n\n`.repeat(4)}`);
  const create = () => new TranslatedExchange(messages.source(), toChat(), context).readStream();
  const seen = relayCut(create(), bytes, [], true);
  expect(seen).toEqual(relayCut(create(), bytes, [], false));
  expect(seen.sent.split('"role"')).toHaveLength(2);
});

it("writes a response for its store where one keeps it, and nowhere else", () => {
  const exchangeFor = (isStored: boolean) => {
    const sink = new ResponsesClientSink(contextOf(), { isStored, keep: async () => {} } as never, clock);
    return new TranslatedExchange(chat.source(), sink, context);
  };
  expect(exchangeFor(true).keep).toBeInstanceOf(Function);
  expect(exchangeFor(false).keep).toBe(undefined);
});
