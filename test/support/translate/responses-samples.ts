import type { ResponseEvent } from "../../../src/protocols/responses/response-events.js";
import { parseResponsesRequest, type ResponsesRequest } from "../../../src/protocols/responses/responses-request.js";
import { ChatToResponsesStream } from "../../../src/protocols/translate/chat-to-responses-stream.js";
import {
  type ResponseContext,
  type ResponseFacts,
  toResponseContext,
} from "../../../src/protocols/translate/response-context.js";
import type { ToChatOptions } from "../../../src/protocols/translate/responses-to-chat-request.js";
import { ToolNames } from "../../../src/protocols/translate/tool-names.js";
import { atOnce } from "../../../src/wire/slices.js";
import { thoughtsOf } from "../own-seal.js";
import { toChatRequest } from "./whole-translations.js";

export function requestOf(members: object): ResponsesRequest {
  return atOnce(
    parseResponsesRequest(Buffer.from(JSON.stringify({ model: "acme/small", input: "hi", ...members })), 256),
  );
}

export const thoughts = thoughtsOf("up/small");

type Body = Record<string, unknown> & { messages: Record<string, unknown>[]; tools?: { function: { name: string } }[] };

/** The chat completion request for a request of these members. */
export function chatOf(members: object, options: Partial<ToChatOptions> = {}): Body {
  return toChatRequest(requestOf(members), { thoughts, ...options }).body as Body;
}

export function messagesOf(input: unknown, options: Partial<ToChatOptions> = {}): Record<string, unknown>[] {
  return chatOf({ input }, options).messages;
}

const facts: ResponseFacts = {
  responseId: "resp_1",
  model: "acme/small",
  createdAt: 1_763_000_000,
  previousResponseId: undefined,
  isStored: false,
  names: new ToolNames(),
  thoughts,
};

/** The context of an answer to a request of these members. */
export function contextOf(members: object = {}): ResponseContext {
  const request = requestOf(members);
  return toResponseContext(request, { ...facts, names: toChatRequest(request, { thoughts }).names });
}

export const end = {
  tokens: { input: 30, cachedInput: 10, output: 20, reasoning: 5 },
  completedAt: 1_763_000_009,
};

export type Chunk = Record<string, unknown>;

export function chunkOf(delta: object, finish: string | null = null): Chunk {
  return { choices: [{ index: 0, delta, finish_reason: finish }] };
}

/** All events of a stream of these chunks that ends well. */
export function eventsOf(chunks: readonly Chunk[], context = contextOf()): ResponseEvent[] {
  const stream = new ChatToResponsesStream(context);
  return [...stream.begin(), ...chunks.flatMap((chunk) => stream.chunk(chunk)), ...stream.end(end)];
}

export interface ResponseObject extends Record<string, unknown> {
  status: string;
  output: Record<string, unknown>[];
}

export function finalResponse(events: readonly ResponseEvent[]): ResponseObject {
  return events.at(-1)?.["response"] as ResponseObject;
}
