import { Buffer } from "node:buffer";
import {
  chatAnswer,
  chatChunks,
  type EventStreamOptions,
  eventStream,
  type FakeAnswer,
  wholeAnswer,
} from "../../../../src/testing.js";

/** What a model says in a test, whichever API its server speaks. */
export interface Said {
  /** Default: "Hello world". */
  text?: string;
  /** Calls of functions. Default: none. */
  calls?: readonly SaidCall[];
  /** The server does not count. Default: it does, 9 tokens of input and 3 of output. */
  isUncounted?: boolean;
  /** The output cap has cut it off. */
  isCut?: boolean;
  /** The stream ends before the end of the response. */
  isBroken?: boolean;
}

export interface SaidCall {
  id: string;
  name: string;
  arguments: string;
}

/** How a kind of server gives what the model says. */
export interface SampleServer {
  name: "a chat completions target" | "a native target";
  operations: ["chat/completions"] | ["responses"];
  /** The path behind the base URL. */
  path: string;
  whole(said?: Said): FakeAnswer;
  stream(said?: Said, options?: EventStreamOptions): FakeAnswer;
  /** The events of the stream, as JSON. */
  events(said?: Said): Record<string, unknown>[];
  /** How many pieces of the stream there are before the first text, and before the end of the text. */
  pieces: { beforeText: number };
}

export const chatServer: SampleServer = {
  name: "a chat completions target",
  operations: ["chat/completions"],
  path: "/v1/chat/completions",
  pieces: { beforeText: 2 },
  whole: ({ text, calls, isUncounted, isCut } = {}) =>
    wholeAnswer(
      chatAnswer({
        ...(text === undefined ? {} : { content: text }),
        ...(calls === undefined ? {} : { content: null, toolCalls: calls.map(toChatCall) }),
        ...(isUncounted ? { usage: null } : {}),
        ...(isCut ? { finishReason: "length" } : {}),
      }),
    ),
  stream: (said, options = {}) => eventStream(chatServer.events(said), options),
  events: ({ text = "Hello world", calls, isUncounted, isCut, isBroken } = {}) =>
    chatChunks(calls === undefined ? text : "", {
      ...(calls === undefined ? {} : { deltas: calls.map((call, index) => chatCallDelta(call, index)) }),
      finishReason: isBroken ? null : isCut ? "length" : calls === undefined ? "stop" : "tool_calls",
      ...(isUncounted || isBroken ? { usage: null } : {}),
    }),
};

export const nativeServer: SampleServer = {
  name: "a native target",
  operations: ["responses"],
  path: "/v1/responses",
  pieces: { beforeText: 4 },
  whole: (said) => wholeAnswer(nativeResponse(said)),
  stream: (said, options) => eventStream(nativeEvents(said).map(frame), { done: false, ...options }),
  events: (said) => nativeEvents(said),
};

export const bothServers = [chatServer, nativeServer];

/** What an honest server does: it gives the response whole or as a stream, as the request says. */
export function honest(server: SampleServer, said?: Said): FakeAnswer {
  return (request, response) => (request.json.stream ? server.stream(said) : server.whole(said))(request, response);
}

/** A response as OpenAI sends it, under the id and the model name of the upstream. */
export function nativeResponse({ text = "Hello world", calls, isUncounted, isCut }: Said = {}) {
  const status = isCut ? "incomplete" : "completed";
  return {
    id: "resp_upstream",
    object: "response",
    created_at: 1_700_000_000,
    status,
    background: false,
    error: null,
    incomplete_details: isCut ? { reason: "max_output_tokens" } : null,
    model: "upstream-small-2026-01-01",
    output: calls === undefined ? [message(text, status)] : calls.map(functionCall),
    parallel_tool_calls: true,
    previous_response_id: null,
    store: false,
    tool_choice: "auto",
    tools: [],
    usage: isUncounted
      ? null
      : {
          input_tokens: 9,
          input_tokens_details: { cached_tokens: 0 },
          output_tokens: 3,
          output_tokens_details: { reasoning_tokens: 0 },
          total_tokens: 12,
        },
    vendor: { kept: [1.5] },
  };
}

/** The events of a streamed response, as OpenAI sends them. */
export function nativeEvents(said: Said = {}): Record<string, unknown>[] {
  const response = nativeResponse(said);
  const begun = { ...response, status: "in_progress", incomplete_details: null, output: [], usage: null };
  const events: Record<string, unknown>[] = [
    { type: "response.created", response: begun },
    { type: "response.in_progress", response: begun },
    ...(said.calls === undefined ? textEvents(said.text) : callEvents(said.calls)),
  ];
  if (!said.isBroken) events.push({ type: `response.${response.status}`, response });
  return events.map((event, index) => ({ type: event["type"], sequence_number: index, ...event }));
}

function textEvents(text = "Hello world"): Record<string, unknown>[] {
  const place = { item_id: "msg_1", output_index: 0, content_index: 0 };
  const words = text.match(/\s*\S+\s*$|\s*\S+/gu) ?? (text === "" ? [] : [text]);
  const part = { type: "output_text", text, annotations: [], logprobs: [] };
  return [
    { type: "response.output_item.added", output_index: 0, item: { ...message("", "in_progress"), content: [] } },
    { type: "response.content_part.added", ...place, part: { ...part, text: "" } },
    ...words.map((delta) => ({ type: "response.output_text.delta", ...place, delta, logprobs: [], obfuscation: "x" })),
    { type: "response.output_text.done", ...place, text, logprobs: [] },
    { type: "response.content_part.done", ...place, part },
    { type: "response.output_item.done", output_index: 0, item: message(text, "completed") },
  ];
}

function callEvents(calls: readonly SaidCall[]): Record<string, unknown>[] {
  return calls.flatMap((call, index) => {
    const place = { item_id: `fc_${call.id}`, output_index: index };
    const item = functionCall(call);
    const begun = { ...item, status: "in_progress", arguments: "" };
    return [
      { type: "response.output_item.added", output_index: index, item: begun },
      { type: "response.function_call_arguments.delta", ...place, delta: call.arguments },
      { type: "response.function_call_arguments.done", ...place, arguments: call.arguments },
      { type: "response.output_item.done", output_index: index, item },
    ];
  });
}

function message(text: string, status: string) {
  const content = [{ type: "output_text", text, annotations: [], logprobs: [] }];
  return { id: "msg_1", type: "message", status, role: "assistant", content };
}

function functionCall(call: SaidCall) {
  return {
    id: `fc_${call.id}`,
    type: "function_call",
    status: "completed",
    call_id: call.id,
    name: call.name,
    arguments: call.arguments,
  };
}

function toChatCall(call: SaidCall) {
  return { id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } };
}

function chatCallDelta(call: SaidCall, index: number) {
  return { tool_calls: [{ index, ...toChatCall(call) }] };
}

function frame(event: Record<string, unknown>): Buffer {
  return Buffer.from(`event: ${event["type"]}\ndata: ${JSON.stringify(event)}\n\n`);
}
