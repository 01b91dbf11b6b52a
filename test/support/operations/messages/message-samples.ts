import { type OpenAICompatibleOptions, openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { anthropic } from "../../../../src/providers/presets.js";
import type { UpstreamProvider } from "../../../../src/providers/upstream-provider.js";
import { type EventStreamOptions, eventStream, type FakeAnswer, wholeAnswer } from "../../../../src/testing.js";
import { chatServer, type Said, type SaidCall } from "../responses/response-samples.js";

/** How a kind of server gives what the model says. Both count 9 tokens of input and 3 of output. */
export interface MessagesServerKind {
  name: "a chat completions target" | "a native target";
  /** The path behind the base URL. */
  path: "/v1/chat/completions" | "/v1/messages";
  whole(said?: Said): FakeAnswer;
  stream(said?: Said, options?: EventStreamOptions): FakeAnswer;
  /** An error in the server's own words. */
  error(status: number, type: string, message: string, headers?: Record<string, string>): FakeAnswer;
  provider(options: OpenAICompatibleOptions): UpstreamProvider;
  /** How many pieces of the stream there are up to the first text, that included. */
  piecesToText: number;
}

export const chatTarget: MessagesServerKind = {
  name: "a chat completions target",
  path: "/v1/chat/completions",
  whole: chatServer.whole,
  stream: chatServer.stream,
  error: (status, type, message, headers = {}) =>
    wholeAnswer({ error: { message, type, code: null, param: null } }, { status, headers }),
  provider: openAICompatible,
  piecesToText: 2,
};

export const nativeTarget: MessagesServerKind = {
  name: "a native target",
  path: "/v1/messages",
  whole: (said) => wholeAnswer(nativeMessage(said)),
  stream: (said, options) => eventStream(nativeEvents(said).map(frame), { done: false, ...options }),
  error: (status, type, message, headers = {}) =>
    wholeAnswer({ type: "error", error: { type, message }, request_id: "req_upstream" }, { status, headers }),
  provider: anthropic,
  piecesToText: 4,
};

export const bothTargets = [chatTarget, nativeTarget];

/** What an honest server does: it gives the message whole or as a stream, as the request says. */
export function honestTarget(target: MessagesServerKind, said?: Said): FakeAnswer {
  return (request, response) => (request.json.stream ? target.stream(said) : target.whole(said))(request, response);
}

/** A message as Anthropic sends it, under the id and the model name of the upstream. */
export function nativeMessage({ text = "Hello world", calls, isUncounted, isCut }: Said = {}) {
  return {
    id: "msg_upstream",
    type: "message",
    role: "assistant",
    model: "upstream-small-2026-01-01",
    content: calls === undefined ? [{ type: "text", text }] : calls.map(toolUse),
    stop_reason: isCut ? "max_tokens" : calls === undefined ? "end_turn" : "tool_use",
    stop_sequence: null,
    ...(isUncounted ? undefined : { usage: usageOf(3) }),
    vendor: { kept: [1.5] },
  };
}

/** The events of a streamed message, as Anthropic sends them. */
export function nativeEvents(said: Said = {}): NativeEvent[] {
  const { stop_reason: reason, stop_sequence: sequence, content: _, ...message } = nativeMessage(said);
  const usage = said.isUncounted ? undefined : { usage: usageOf(1) };
  const events: NativeEvent[] = [
    {
      type: "message_start",
      message: { ...message, content: [], stop_reason: null, stop_sequence: null, ...usage },
    },
    ...(said.calls === undefined ? textEvents(said.text) : said.calls.flatMap(callEvents)),
  ];
  if (said.isBroken) return events;
  const counted = said.isUncounted ? undefined : { usage: { output_tokens: 3 } };
  events.push({ type: "message_delta", delta: { stop_reason: reason, stop_sequence: sequence }, ...counted });
  return [...events, { type: "message_stop" }];
}

export type NativeEvent = Record<string, unknown> & { type: string };

function textEvents(text = "Hello world"): NativeEvent[] {
  const words = text.match(/\s*\S+\s*$|\s*\S+/gu) ?? [];
  return [
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "ping" },
    ...words.map((word) => ({
      type: "content_block_delta",
      index: 0,
      delta: { type: "text_delta", text: word },
    })),
    { type: "content_block_stop", index: 0 },
  ];
}

function callEvents(call: SaidCall, index: number): NativeEvent[] {
  const half = Math.ceil(call.arguments.length / 2);
  return [
    { type: "content_block_start", index, content_block: { ...toolUse(call), input: {} } },
    ...[call.arguments.slice(0, half), call.arguments.slice(half)].map((json) => ({
      type: "content_block_delta",
      index,
      delta: { type: "input_json_delta", partial_json: json },
    })),
    { type: "content_block_stop", index },
  ];
}

function toolUse({ id, name, arguments: text }: SaidCall) {
  return { type: "tool_use", id, name, input: JSON.parse(text === "" ? "{}" : text) as unknown };
}

function usageOf(output: number) {
  return { input_tokens: 9, cache_creation_input_tokens: 0, cache_read_input_tokens: 0, output_tokens: output };
}

export function frame(event: NativeEvent): string {
  return `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
}
