// Of 100,000 cases each, most of the time would be that of `expect`.

import assert from "node:assert/strict";
import { Buffer } from "node:buffer";
import fc from "fast-check";
import { badGateway, GatewayError } from "../../../src/errors/gateway-error.js";
import { StreamFault } from "../../../src/errors/upstream-fault.js";
import { parseChatRequest } from "../../../src/protocols/chat/chat-request.js";
import { MessageStream } from "../../../src/protocols/messages/message-stream.js";
import { parseMessagesRequest } from "../../../src/protocols/messages/messages-request.js";
import { ChatToMessagesStream } from "../../../src/protocols/translate/chat-to-messages-stream.js";
import { MessagesToChatStream } from "../../../src/protocols/translate/messages-to-chat-stream.js";
import { createEventReader } from "../../../src/wire/event-reader.js";
import { atOnce, wholeOutgoing } from "../../../src/wire/slices.js";
import { answerContext } from "../answer-context.js";
import { thoughtsOf } from "../own-seal.js";
import { completions, cut, head, type Json, translation, usage } from "./chat-samples.js";
import { type Conversation, chatTurns, conversations, messagesTurns } from "./conversations.js";
import type { Event } from "./message-events.js";
import { chatToMessagesRequest, messagesToChatRequest } from "./whole-translations.js";

/** What must hold for any request and any stream; each takes how many cases are to be tried. */
export const messagesProperties: Readonly<Record<string, (numRuns: number) => void>> = {
  "a request for a message loses no text, no call and no result as one for a chat completion": (numRuns) =>
    fc.assert(fc.property(conversations, toChatKeepsAll), { numRuns }),
  "a request for a chat completion loses no text, no call and no result as one for a message": (numRuns) =>
    fc.assert(fc.property(conversations, toMessagesKeepsAll), { numRuns }),
  "a stream of chat completions that stops anywhere is a stream of Messages up to one error": (numRuns) =>
    fc.assert(fc.property(completions, cuts, fc.nat(), stopsAsMessages), { numRuns }),
  "a stream of Messages that stops anywhere is a stream of chat completions without an end": (numRuns) =>
    fc.assert(fc.property(completions, cuts, fc.nat(), stopsAsChat), { numRuns }),
  "a stream is the same however its bytes come": (numRuns) =>
    fc.assert(fc.property(completions, cuts, fc.array(fc.integer({ min: 1, max: 90 }), { minLength: 1 }), isSplit), {
      numRuns,
    }),
  "a request whose bytes were changed is understood, or refused": (numRuns) =>
    fc.assert(fc.property(conversations, changes, isUnderstoodOrRefused), { numRuns }),
  "a stream whose bytes were changed is read, or is at fault": (numRuns) =>
    fc.assert(fc.property(completions, cuts, changes, isReadOrAtFault), { numRuns }),
};

const cuts = fc.array(fc.nat(50), { minLength: 1, maxLength: 10 });

const words = (text: string) => text.match(/(?:text|input|result)\d+/g) ?? [];

function toChatKeepsAll(conversation: Conversation): void {
  const turns = messagesTurns(conversation);
  const bytes = Buffer.from(JSON.stringify({ model: "m", max_tokens: 9, messages: turns }));
  const { body } = messagesToChatRequest(atOnce(parseMessagesRequest(bytes, 64)), { thoughts: thoughtsOf("t") });
  const { messages } = JSON.parse(body.toString()) as { messages: Json[] };
  expectSame(JSON.stringify(messages), turns);
  for (const [at, { role, tool_calls: calls = [], tool_call_id: id }] of messages.entries()) {
    const ids = (calls as { id: string }[]).map((call) => call.id);
    const answered = messages.slice(at + 1, at + 1 + ids.length).map((message) => message["tool_call_id"]);
    assert.deepEqual(answered, ids);
    if (role !== "tool") continue;
    const caller = messages.slice(0, at).findLast((message) => message["role"] !== "tool");
    assert(JSON.stringify(caller?.["tool_calls"]).includes(`"${String(id)}"`));
  }
}

function toMessagesKeepsAll(conversation: Conversation): void {
  const turns = chatTurns(conversation);
  const bytes = Buffer.from(JSON.stringify({ model: "m", messages: turns }));
  const body = chatToMessagesRequest(atOnce(parseChatRequest(bytes, 64)), { model: "m" });
  const { messages, system = [] } = JSON.parse(Buffer.from(body).toString()) as { messages: Json[]; system?: Json[] };
  expectSame(JSON.stringify([system, messages]), turns);
  const idsOf = (message: Json | undefined, name: string) =>
    ((message?.["content"] ?? []) as Json[]).flatMap((block) => block[name] ?? []);
  for (const [at, message] of messages.entries()) {
    assert.equal(message["role"], at % 2 === 0 ? "user" : "assistant");
    assert.deepEqual(idsOf(messages[at + 1], "tool_use_id").toSorted(), idsOf(message, "id").toSorted());
  }
}

/** All words are there, each as often and each kind in its order. */
function expectSame(translated: string, turns: readonly Json[]): void {
  const sent = JSON.stringify(turns);
  for (const kind of ["text", "input", "result"]) {
    const ofKind = (all: string[]) => all.filter((word) => word.startsWith(kind));
    assert.deepEqual(ofKind(words(translated)), ofKind(words(sent)));
  }
}

const failure = badGateway("The model's answer broke off. Try again.");

function stopsAsMessages(completion: Json, lengths: number[], place: number): void {
  const chunks = cut(completion, lengths);
  const count = place % (chunks.length + 1);
  const stream = new ChatToMessagesStream(head, translation);
  const bytes = chunks.slice(0, count).map((chunk) => stream.chunk(structuredClone(chunk)));
  const isWhole = ended(() => bytes.push(stream.end(usage)));
  assert.equal(isWhole, count >= chunks.length - 1);
  bytes.push(stream.fault(failure));
  const events = createEventReader(1_000_000).read(Buffer.concat(bytes.map(wholeOutgoing)));
  expectBegun(
    events.map(({ event, data }) => {
      const said = JSON.parse(data) as Event;
      assert.equal(said.type, event);
      return said;
    }),
    isWhole,
  );
}

/** As far as they go, the events are in order; the last one is the end, or else the only error. */
function expectBegun(events: readonly Event[], isWhole: boolean): void {
  const last = isWhole ? "message_stop" : "error";
  assert.equal(events.map(({ type }) => type).indexOf(last), events.length - 1);
  const blocks: boolean[] = [];
  for (const [at, { type, index }] of events.slice(0, -1).entries()) {
    assert.equal(type === "message_start", at === 0);
    if (type === "content_block_start") {
      assert(blocks.at(-1) !== true);
      assert.equal(index, blocks.push(true) - 1);
    } else if (type.startsWith("content_block")) {
      assert.deepEqual([index, blocks.at(-1)], [blocks.length - 1, true]);
      if (type === "content_block_stop") blocks[blocks.length - 1] = false;
    }
  }
}

/** What the events of a translated stream are as a stream of Messages. */
function messagesBytes(completion: Json, lengths: readonly number[]): Buffer {
  const stream = new ChatToMessagesStream(head, translation);
  const bytes = cut(completion, lengths).map((chunk) => stream.chunk(chunk));
  return Buffer.concat([...bytes, stream.end(usage)].map(wholeOutgoing));
}

function stopsAsChat(completion: Json, lengths: number[], place: number): void {
  const events = createEventReader(1_000_000).read(messagesBytes(completion, lengths));
  const count = place % (events.length + 1);
  const stream = new MessagesToChatStream({ created: 1, model: "m" }, answerContext({ promptTokens: 5 }));
  const chunks = events.slice(0, count).flatMap((event) => stream.event(event));
  const isWhole = ended(() => chunks.push(...stream.end()));
  // All but the last event, which says nothing.
  assert.equal(isWhole, count >= events.length - 1);
  const choices = chunks.flatMap((chunk) => chunk["choices"] as { delta: Json; finish_reason: string | null }[]);
  assert.deepEqual(
    choices.filter(({ delta }) => delta["role"] !== undefined),
    choices.slice(0, 1),
  );
  const finish = choices.findIndex(({ finish_reason: reason }) => reason !== null);
  assert.equal(finish, isWhole ? choices.length - 1 : -1);
  const calls = choices.flatMap(({ delta }) => (delta["tool_calls"] ?? []) as { index: number; id?: string }[]);
  const starts = calls.filter(({ id }) => id !== undefined).map(({ index }) => index);
  assert.deepEqual(
    starts,
    starts.map((_index, at) => at),
  );
}

function ended(end: () => unknown): boolean {
  try {
    end();
    return true;
  } catch (thrown) {
    assert(thrown instanceof StreamFault && thrown.reason === "incomplete", String(thrown));
    return false;
  }
}

function isSplit(completion: Json, lengths: number[], sizes: number[]): void {
  const bytes = messagesBytes(completion, lengths);
  const pieces: Buffer[] = [];
  for (let at = 0, next = 0; at < bytes.length; next++) {
    const size = sizes[next % sizes.length] ?? 1;
    pieces.push(bytes.subarray(at, at + size));
    at += size;
  }
  for (const machine of machines) assert.deepEqual(machine(pieces), machine([bytes]));
  // What speaks Messages already passes as it is, but for the model's name.
  const renamed = bytes.toString().replaceAll('"acme/large"', '"m"');
  assert.equal(Buffer.from(asNative(pieces)).toString(), renamed);
}

function asNative(pieces: readonly Uint8Array[]): Uint8Array {
  const reader = createEventReader(1_000_000);
  const stream = new MessageStream(answerContext({ model: "m", promptTokens: 5 }));
  const events = pieces.flatMap((piece) => reader.read(piece));
  return Buffer.concat([...events.map((event) => stream.event(event) ?? Buffer.alloc(0)), stream.end()]);
}

function asChat(pieces: readonly Uint8Array[]): Json[] {
  const reader = createEventReader(1_000_000);
  const stream = new MessagesToChatStream({ created: 1, model: "m" }, answerContext({ promptTokens: 5 }));
  const events = pieces.flatMap((piece) => reader.read(piece));
  return [...events.flatMap((event) => stream.event(event)), ...stream.end()];
}

const machines = [asNative, asChat];

/** Bytes that are put where others were. */
interface Change {
  at: number;
  left: number;
  put: string;
}

const pieces = ['"', "{", "}", "[", "]", ",", ":", "\\", "\n\n", "data: ", "0", "-", "1e999", "null", "\\ud800", "é"];
const changes: fc.Arbitrary<Change[]> = fc.array(
  fc.record({ at: fc.nat(5000), left: fc.nat(12), put: fc.constantFrom("", ...pieces) }),
  { minLength: 1, maxLength: 4 },
);

function changed(bytes: Buffer, all: readonly Change[]): Buffer {
  return all.reduce((now, { at, left, put }) => {
    const place = at % now.length;
    return Buffer.concat([now.subarray(0, place), Buffer.from(put), now.subarray(Math.min(now.length, place + left))]);
  }, bytes);
}

function isUnderstoodOrRefused(conversation: Conversation, all: Change[]): void {
  const own = { model: "m", max_tokens: 9, system: "text0", tools: [{ name: "f", input_schema: {} }] };
  const bytes = Buffer.from(JSON.stringify({ ...own, messages: messagesTurns(conversation) }));
  try {
    const request = atOnce(parseMessagesRequest(changed(bytes, all), 64));
    const { body } = messagesToChatRequest(request, { thoughts: thoughtsOf("t"), reasoning: true });
    assert.equal(atOnce(parseChatRequest(body, 80)).model, request.model);
  } catch (thrown) {
    if (!(thrown instanceof GatewayError)) throw thrown;
    assert.equal(thrown.status, 400);
  }
}

function isReadOrAtFault(completion: Json, lengths: number[], all: Change[]): void {
  const bytes = changed(messagesBytes(completion, lengths), all);
  for (const machine of machines) {
    try {
      machine([bytes]);
    } catch (thrown) {
      if (!(thrown instanceof StreamFault) && !(thrown instanceof GatewayError)) throw thrown;
    }
  }
}
