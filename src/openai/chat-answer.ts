import { Buffer } from "node:buffer";
import { editMembers, editText, endOfValue, findValue, membersOf, splice, unclear } from "./json-members.js";
import { estimateTokens } from "./token-estimate.js";
import { isRecord, readUsage, type TokenCounts, toUsageObject } from "./usage.js";

/** What the gateway knows of a call when its answer comes. */
export interface AnswerContext {
  /** The model as the client named it. */
  model: string;
  /** What the prompt counts when the upstream does not say. */
  promptTokens: number;
  /** Epoch seconds, for answers without `created`. */
  created: number;
  /** `chatcmpl-…`, for answers without an id. */
  completionId: string;
}

export interface ChatAnswer {
  /** Text where the answer is nothing but ASCII: it leaves faster. */
  body: Uint8Array | string;
  tokens: TokenCounts;
  /** The upstream reported no usage: `tokens` are estimated. */
  estimated: boolean;
}

/** What an upstream sent. */
export interface WholeAnswer {
  bytes: Uint8Array;
  /** `bytes` as text, where they are nothing but ASCII. */
  text: string | undefined;
  /** `bytes`, parsed; `undefined` where they are no JSON. */
  json: unknown;
}

/**
 * A whole chat completion as clients need it: own id, own model name, usage always there, and repairs where a client
 * would break. Everything else stays byte for byte.
 *
 * @returns `undefined` when it is no chat completion.
 */
export function toChatAnswer(whole: WholeAnswer, context: AnswerContext): ChatAnswer | undefined {
  const { bytes, text, json: answer } = whole;
  if (!isRecord(answer)) return undefined;
  const choices = answer["choices"];
  if (!Array.isArray(choices) || choices.length === 0) return undefined;
  for (const choice of choices) if (!isRecord(choice) || !isRecord(choice["message"])) return undefined;

  const reported = readUsage(answer["usage"]);
  const tokens = reported ?? {
    input: context.promptTokens,
    cachedInput: 0,
    output: estimateTokens(choices.reduce((bytes, choice) => bytes + textBytes(choice["message"]), 0)),
    reasoning: 0,
  };
  const repairs = repairsOf(answer, choices, context, reported === undefined ? tokens : undefined);
  const isNamed = answer["model"] === context.model;
  return {
    body: repairs === undefined && isNamed ? (text ?? bytes) : edited(whole, context.model, repairs),
    tokens,
    estimated: reported === undefined,
  };
}

type Edits = Map<string, string | null>;

/** What has to be changed besides the model's name; mostly nothing. */
function repairsOf(
  answer: Record<string, unknown>,
  choices: Record<string, unknown>[],
  context: AnswerContext,
  estimate: TokenCounts | undefined,
): Edits | undefined {
  let edits: Edits | undefined;
  const edit = (name: string, value: string | null) => {
    edits ??= new Map();
    edits.set(name, value);
  };
  const id = completionId(answer["id"], context.completionId);
  if (id !== answer["id"]) edit("id", JSON.stringify(id));
  if (answer["object"] !== "chat.completion") edit("object", '"chat.completion"');
  if (!Number.isInteger(answer["created"])) edit("created", String(context.created));
  if (answer["error"] === null) edit("error", null);
  if (repairChoices(choices)) edit("choices", JSON.stringify(choices));
  const usage = answer["usage"];
  const tokens = estimate ?? (hasUsageTotals(usage) ? undefined : readUsage(usage));
  if (tokens !== undefined) {
    edit("usage", JSON.stringify({ ...(isRecord(usage) ? usage : {}), ...toUsageObject(tokens) }));
  }
  return edits;
}

const modelName = Buffer.from("model");

function edited({ bytes, text }: WholeAnswer, model: string, repairs: Edits | undefined): Uint8Array | string {
  const named = JSON.stringify(model);
  const start = repairs === undefined ? findValue(bytes, 0, modelName) : unclear;
  if (start >= 0) {
    const end = endOfValue(bytes, start);
    return text === undefined ? splice(bytes, start, end, named) : text.slice(0, start) + named + text.slice(end);
  }
  const edits = new Map(repairs).set("model", named);
  const members = membersOf(bytes);
  return text === undefined ? editMembers(bytes, members, edits) : editText(text, members, edits);
}

/** OpenAI's ids begin with `chatcmpl-`, and so must ours. */
export function completionId(upstreamId: unknown, fallback: string): string {
  if (typeof upstreamId !== "string" || upstreamId === "") return fallback;
  return upstreamId.startsWith("chatcmpl-") ? upstreamId : `chatcmpl-${upstreamId}`;
}

/** Bytes of model output in a message or a delta: text, reasoning, refusal, tool calls. */
export function textBytes(message: unknown): number {
  if (!isRecord(message)) return 0;
  let bytes = 0;
  for (const name of ["content", "reasoning_content", "reasoning", "refusal"]) {
    const text = message[name];
    if (typeof text === "string") bytes += Buffer.byteLength(text);
  }
  // Parts, audio and the like: of these only the size is known.
  for (const name of ["content", "audio", "reasoning_details"]) {
    const value = message[name];
    if (typeof value === "object" && value !== null) bytes += JSON.stringify(value).length;
  }
  if (Array.isArray(message["tool_calls"])) {
    for (const call of message["tool_calls"]) bytes += functionBytes(isRecord(call) ? call["function"] : undefined);
  }
  return bytes + functionBytes(message["function_call"]);
}

function functionBytes(call: unknown): number {
  if (!isRecord(call)) return 0;
  let bytes = 0;
  for (const name of ["name", "arguments"]) {
    const text = call[name];
    if (typeof text === "string") bytes += Buffer.byteLength(text);
  }
  return bytes;
}

function hasUsageTotals(usage: unknown): boolean {
  return (
    isRecord(usage) &&
    Number.isInteger(usage["prompt_tokens"]) &&
    Number.isInteger(usage["completion_tokens"]) &&
    Number.isInteger(usage["total_tokens"])
  );
}

/** @returns whether anything had to be changed. */
function repairChoices(choices: Record<string, unknown>[]): boolean {
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
    if (message["content"] === undefined) {
      message["content"] = null;
      repaired = true;
    }
    if (typeof choice["finish_reason"] !== "string") {
      choice["finish_reason"] = Array.isArray(message["tool_calls"]) ? "tool_calls" : "stop";
      repaired = true;
    }
    if (repairToolCalls(message["tool_calls"])) repaired = true;
  }
  return repaired;
}

function repairToolCalls(calls: unknown): boolean {
  if (!Array.isArray(calls)) return false;
  let repaired = false;
  for (const call of calls) {
    if (isRecord(call) && call["type"] === undefined && isRecord(call["function"])) {
      call["type"] = "function";
      repaired = true;
    }
  }
  return repaired;
}
