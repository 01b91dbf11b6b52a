import type { ModelResponse } from "../../prices/progress.js";
import { TextSample } from "../../tokens/text-sample.js";
import { isRecord } from "../../wire/is-record.js";
import { type AttemptContext, bareCallId } from "../shared/exchange.js";
import {
  editResponse,
  gaveUp,
  isEnd,
  meaningOfEnd,
  outlinePays,
  type ReceivedResponse,
  ResponseEdits,
  requireNoFailure,
} from "../shared/received-response.js";
import { requireFewCalls } from "../shared/response-bounds.js";
import { readUsage } from "../shared/usage-object.js";
import { findReport, takeChoiceReports } from "../shared/usage-report.js";
import { type AnswerUsage, responseUsage } from "./choice-usage.js";
import { plainCompletion } from "./plain-completion.js";
import { repairTexts, repairToolCalls } from "./tool-calls.js";

/**
 * Turns an upstream's chat completion into the client's: own id, own model name, usage always present. It repairs what
 * would make clients fail. Everything else stays byte for byte.
 *
 * @returns `undefined` when it is no chat completion.
 */
export function toChatResponse(received: ReceivedResponse, context: AttemptContext): ModelResponse | undefined {
  const plain = received.bytes.length < outlinePays ? plainCompletion(received, context) : undefined;
  return plain ?? toRepairedResponse(received, context);
}

/** The same for any completion, which is parsed. */
export function toRepairedResponse(received: ReceivedResponse, context: AttemptContext): ModelResponse | undefined {
  const repair = repairOf(received.json, context);
  if (repair === undefined) return undefined;
  const { edits, choices, tokens, estimated, unpriced, responseId } = repair;
  const body = editResponse(received, edits);
  return { body, tokens, estimated, unpriced, responseId, finishReason: firstFinish(choices) };
}

/** A chat completion as {@link toChatResponse} repairs it, for a client that gets it in other words. */
interface RepairedCompletion extends AnswerUsage {
  readonly json: Readonly<Record<string, unknown>>;
}

/** @returns `undefined` when it is no chat completion. @param answer - parsed; its choices are changed in place. */
export function repairCompletion(answer: unknown, context: AttemptContext): RepairedCompletion | undefined {
  const repair = repairOf(answer, context);
  if (repair === undefined) return undefined;
  const json: Record<string, unknown> = { ...(answer as Record<string, unknown>) };
  for (const [name, edit] of repair.edits.toMap()) {
    if (edit === null) delete json[name];
    else if (typeof edit === "string" && name !== "choices") json[name] = JSON.parse(edit);
  }
  const { tokens, estimated, unpriced } = repair;
  return { json, tokens, estimated, unpriced };
}

/** What is to change in a chat completion, and what it counts. */
interface Repair extends AnswerUsage {
  readonly edits: ResponseEdits;
  readonly choices: readonly Record<string, unknown>[];
  readonly responseId: string;
}

function repairOf(answer: unknown, context: AttemptContext): Repair | undefined {
  if (!isRecord(answer)) return undefined;
  const choices = answer["choices"];
  if (!Array.isArray(choices) || choices.length === 0) return undefined;
  for (const choice of choices) {
    if (!isRecord(choice) || !isRecord(choice["message"]) || isRecord(choice["error"])) return undefined;
    const calls = choice["message"]["tool_calls"];
    if (Array.isArray(calls)) requireFewCalls(calls.length, () => readUsage(findReport(answer)));
    requireEnd(choice["finish_reason"], answer, context);
  }

  const responseId = completionId(answer["id"], context, chatWords);
  const edits = editsOf(answer, choices, responseId, context);
  const used = responseUsage({ json: answer, choices, prompts: 1, written: outputOf }, context, edits);
  if (takeChoiceReports(choices)) edits.set("choices", JSON.stringify(choices));
  return { ...used, edits, choices, responseId };
}

/**
 * @param said - the whole response, with what it reports as used.
 * @throws GatewayError where the server has given up, or must say why a choice ended and does not.
 */
export function requireEnd(
  reason: unknown,
  said: Readonly<Record<string, unknown>>,
  { dialect }: Pick<AttemptContext, "dialect">,
): void {
  const isMissing = dialect?.finishReason === "required" && !isEnd(reason);
  if (isMissing) throw gaveUp("it has no finish reason", readUsage(findReport(said)));
  if (meaningOfEnd(reason) === "error") requireNoFailure(reason, readUsage(findReport(said)));
}

/** The same for all choices of a document. */
export function requireEnds(said: Readonly<Record<string, unknown>>, context: Pick<AttemptContext, "dialect">): void {
  const { choices } = said;
  if (!Array.isArray(choices)) return;
  for (const choice of choices) if (isRecord(choice)) requireEnd(choice["finish_reason"], said, context);
}

function outputOf(choices: readonly Record<string, unknown>[]): TextSample {
  const output = new TextSample();
  for (const { message } of choices) output.addText(`${output.bytes > 0 ? " " : ""}${outputText(message)}`);
  return output;
}

/** The edits besides the usage. */
function editsOf(
  answer: Record<string, unknown>,
  choices: Record<string, unknown>[],
  id: string,
  context: AttemptContext,
): ResponseEdits {
  const edits = new ResponseEdits();
  if (id !== answer["id"]) edits.set("id", JSON.stringify(id));
  if (answer["object"] !== "chat.completion") edits.set("object", '"chat.completion"');
  if (!Number.isInteger(answer["created"])) edits.set("created", String(createdAt(context)));
  if (answer["model"] !== context.model) edits.set("model", JSON.stringify(context.model));
  if (answer["error"] === null) edits.set("error", null);
  if (repairChoices(choices, context)) edits.set("choices", JSON.stringify(choices));
  return edits;
}

/** Why the first choice of a completion, or of a chunk, ended; `undefined`: it has not. */
export function firstFinish(choices: unknown): string | undefined {
  if (!Array.isArray(choices)) return undefined;
  // Whole completions have their choices in order; of a chunk's, any one may be the first.
  const first: unknown = choices.find((choice) => isRecord(choice) && choice["index"] === 0) ?? choices[0];
  const finish = isRecord(first) && (first["index"] ?? 0) === 0 ? first["finish_reason"] : undefined;
  return typeof finish === "string" ? finish : undefined;
}

/** The date of a completion that has none, in epoch seconds. */
export function createdAt({ admittedAt }: Pick<AttemptContext, "admittedAt">): number {
  return Math.floor(admittedAt / 1000);
}

/** The model's output in a message or a delta: text, reasoning, refusal, tool calls. */
export function outputText(message: unknown): string {
  if (!isRecord(message)) return "";
  let output = "";
  for (const name of ["content", "reasoning_content", "reasoning", "thinking", "refusal"]) {
    const text = message[name];
    if (typeof text === "string") output += text;
  }
  // Parts, audio and the like count as they are written.
  for (const name of ["content", "audio", "images", "reasoning_details"]) {
    const value = message[name];
    if (typeof value === "object" && value !== null) output += JSON.stringify(value);
  }
  if (Array.isArray(message["tool_calls"])) {
    for (const call of message["tool_calls"]) {
      if (isRecord(call)) output += calledText(call["function"]) + calledText(call["custom"]);
    }
  }
  return output + calledText(message["function_call"]);
}

function calledText(call: unknown): string {
  if (!isRecord(call)) return "";
  let output = "";
  for (const name of ["name", "arguments", "input"]) {
    const text = call[name];
    if (typeof text === "string") output += text;
  }
  return output;
}

/** The end of a choice of which the server has not said why it ended. */
export function finishOf(hasCalls: boolean): string {
  return hasCalls ? "tool_calls" : "stop";
}

/** @returns whether anything was changed. */
function repairChoices(choices: Record<string, unknown>[], context: AttemptContext): boolean {
  let repaired = false;
  for (let position = 0; position < choices.length; position++) {
    const choice = choices[position] as Record<string, unknown>;
    const message = choice["message"] as Record<string, unknown>;
    if (!Number.isInteger(choice["index"])) {
      choice["index"] = position;
      repaired = true;
    }
    if (message["role"] !== "assistant") {
      message["role"] = "assistant";
      repaired = true;
    }
    if (joinTextParts(message)) repaired = true;
    if (message["content"] === undefined) {
      message["content"] = null;
      repaired = true;
    }
    if (!isEnd(choice["finish_reason"])) {
      choice["finish_reason"] = finishOf(Array.isArray(message["tool_calls"]));
      repaired = true;
    }
    if (repairToolCalls(message, `call_${bareCallId(context)}_${position}_`)) repaired = true;
  }
  return repaired;
}

/** What an API calls its completions. */
export interface CompletionWords {
  /** The `object` of a whole one. */
  readonly whole: string;
  /** The `object` of a chunk. */
  readonly chunk: string;
  /** What ids begin with. */
  readonly idPrefix: string;
}

export const chatWords: CompletionWords = {
  whole: "chat.completion",
  chunk: "chat.completion.chunk",
  idPrefix: "chatcmpl-",
};

/** Of the older API, of plain texts. */
export const textWords: CompletionWords = { whole: "text_completion", chunk: "text_completion", idPrefix: "cmpl-" };

/** Keeps an id that begins as OpenAI's do; otherwise makes one. */
export function completionId(
  upstreamId: unknown,
  call: Pick<AttemptContext, "callId">,
  { idPrefix }: CompletionWords,
): string {
  if (typeof upstreamId !== "string" || upstreamId === "") return idPrefix + bareCallId(call);
  return upstreamId.startsWith(idPrefix) ? upstreamId : idPrefix + upstreamId;
}

/**
 * Mistral's reasoning models write `content` as a list of texts and thoughts. Clients require a string. This sets
 * `content` to the joined texts and `reasoning_content` to the thoughts, in place. A list that contains anything else
 * stays as it is.
 *
 * @returns whether anything was changed.
 */
export function joinTextParts(message: Record<string, unknown>): boolean {
  const { content } = message;
  if (!Array.isArray(content)) return false;
  let text = "";
  let thought = "";
  for (const part of content) {
    const thoughts = thinkingOf(part);
    if (thoughts !== undefined) thought += thoughts;
    else if (isTextPart(part)) text += part.text;
    else return false;
  }
  message["content"] = text;
  if (thought !== "" && message["reasoning_content"] === undefined) message["reasoning_content"] = thought;
  return true;
}

/** The text of `{"type":"thinking","thinking":[{"type":"text","text":"…"}]}`; `thinking` may also be a string. */
function thinkingOf(part: unknown): string | undefined {
  if (!isRecord(part) || part["type"] !== "thinking") return undefined;
  const { thinking } = part;
  if (typeof thinking === "string") return thinking;
  if (!Array.isArray(thinking)) return undefined;
  return thinking.map((piece) => (isTextPart(piece) ? piece.text : "")).join("");
}

function isTextPart(part: unknown): part is { text: string } {
  return isRecord(part) && part["type"] === "text" && typeof part["text"] === "string";
}

/**
 * Turns a whole chat completion into the only chunk of a stream. Some upstreams do not stream although the request
 * asked for a stream. An error response stays as it is.
 */
export function responseToChunk(answer: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { choices } = answer;
  if (!Array.isArray(choices)) return answer;
  return { ...answer, object: "chat.completion.chunk", choices: choices.map(toStreamedChoice) };
}

function toStreamedChoice(choice: unknown): unknown {
  if (!isRecord(choice)) return choice;
  const { message, ...rest } = choice;
  const calls = isRecord(message) ? message["tool_calls"] : undefined;
  const finish = isEnd(rest["finish_reason"]) ? rest["finish_reason"] : finishOf(Array.isArray(calls));
  return {
    ...rest,
    delta: {
      ...(isRecord(message) ? message : undefined),
      ...(Array.isArray(calls) ? { tool_calls: calls.map(toDelta) } : undefined),
    },
    finish_reason: finish,
  };
}

/** Its own index, if there is one, says nothing: some servers give all calls the same. */
function toDelta(call: unknown, index: number): unknown {
  if (!isRecord(call)) return call;
  repairTexts(call, "{}");
  return { ...call, index };
}
