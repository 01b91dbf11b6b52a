import type { ModelResponse } from "../../prices/progress.js";
import { TextSample } from "../../tokens/text-sample.js";
import { isRecord } from "../../wire/is-record.js";
import { completionId, createdAt, finishOf, firstFinish, requireEnd, textWords } from "../chat/chat-response.js";
import { responseUsage } from "../chat/choice-usage.js";
import type { AttemptContext } from "../shared/exchange.js";
import { editResponse, isEnd, type ReceivedResponse, ResponseEdits } from "../shared/received-response.js";
import { takeChoiceReports } from "../shared/usage-report.js";
import { type CompletionRequest, echoablePrompt } from "./completion-request.js";

type Choice = Record<string, unknown>;

/**
 * Turns an upstream's completion into the client's: own id, own model name, usage always present. It repairs what would
 * make clients fail. Everything else stays byte for byte.
 *
 * @returns `undefined` when it is no completion, or has none of some prompt.
 */
export function toCompletionResponse(
  received: ReceivedResponse,
  asked: AskedChoices,
  context: AttemptContext,
): ModelResponse | undefined {
  const { json } = received;
  if (!isRecord(json)) return undefined;
  const { choices } = json;
  if (!Array.isArray(choices) || choices.length < asked.least) return undefined;
  const isRepaired = repairAll(choices, (reason) => requireEnd(reason, json, context));
  if (isRepaired === undefined) return undefined;

  const responseId = completionId(json["id"], context, textWords);
  const edits = new ResponseEdits();
  if (responseId !== json["id"]) edits.set("id", JSON.stringify(responseId));
  if (json["object"] !== textWords.whole) edits.set("object", JSON.stringify(textWords.whole));
  if (!Number.isInteger(json["created"])) edits.set("created", String(createdAt(context)));
  if (json["model"] !== context.model) edits.set("model", JSON.stringify(context.model));
  if (json["error"] === null) edits.set("error", null);
  const written = (some: readonly Choice[]) => writtenIn(some, asked);
  const { least: prompts, writtenForEach } = asked;
  const used = responseUsage({ json, choices, prompts, written, writtenForEach }, context, edits);
  const isTaken = takeChoiceReports(choices);
  if (isRepaired || isTaken) edits.set("choices", JSON.stringify(choices));
  return {
    body: editResponse(received, edits),
    ...used,
    responseId,
    finishReason: firstFinish(choices),
  };
}

/** @returns whether anything was changed; `undefined` where something is no choice. */
function repairAll(choices: readonly unknown[], requireSound: (reason: unknown) => void): boolean | undefined {
  let isRepaired = false;
  for (const [position, choice] of choices.entries()) {
    const repaired = repairChoice(choice, position);
    if (repaired === undefined) return undefined;
    isRepaired ||= repaired;
    if (repairLogprobs(choice as Choice, 0)) isRepaired = true;
    requireSound((choice as Choice)["finish_reason"]);
    if (isEnd((choice as Choice)["finish_reason"])) continue;
    (choice as Choice)["finish_reason"] = finishOf(false);
    isRepaired = true;
  }
  return isRepaired;
}

/** The texts of several choices must not become one word. */
function writtenIn(choices: readonly Choice[], asked: AskedChoices): TextSample {
  const sample = new TextSample();
  for (const { index, text } of choices) {
    sample.addText(`${sample.bytes > 0 ? " " : ""}${asked.written(Number(index), String(text))}`);
  }
  return sample;
}

/** The choices that a request asks for: `n` of each prompt, one prompt after the other. */
export class AskedChoices {
  /** The prompts: of each there must be a choice. Some servers know no `n`. */
  readonly least: number;
  readonly all: number;
  /** Of each prompt. */
  readonly n: number;
  /** So many are written for each that is sent. */
  readonly writtenForEach: number;
  readonly #request: CompletionRequest;
  /** How much of its prompt each choice has repeated; -1 once it has gone on in other words. */
  readonly #echoed = new Map<number, number>();
  /** The prompt that was read last: its choices come together, as a rule. */
  #prompt: { readonly place: number; readonly text: string } | undefined;

  constructor(request: CompletionRequest) {
    this.least = request.prompts.length;
    this.all = request.prompts.length * request.n;
    this.n = request.n;
    this.writtenForEach = request.bestOf / request.n;
    this.#request = request;
  }

  /**
   * What of a choice's text the model has written: an echoed prompt is not. Pieces of a text come in their order. Not every
   * server repeats a prompt because its client asks for that.
   * @param index - of the choice.
   */
  written(index: number, text: string): string {
    const { echo, n } = this.#request;
    const from = echo ? (this.#echoed.get(index) ?? 0) : -1;
    if (from < 0) return text;
    const prompt = this.#promptAt(Math.floor(index / n));
    const length = Math.min(text.length, prompt.length - from);
    const isEcho = text.slice(0, length) === prompt.slice(from, from + length);
    this.#echoed.set(index, isEcho ? from + length : -1);
    return isEcho ? text.slice(length) : text;
  }

  #promptAt(place: number): string {
    if (this.#prompt?.place !== place) this.#prompt = { place, text: echoablePrompt(this.#request, place) };
    return this.#prompt.text;
  }
}

/**
 * Repairs a choice in place where clients would fail.
 * @param position - in its list, which is its index where it has none.
 * @returns whether anything was changed; `undefined`: it is no choice.
 */
export function repairChoice(choice: unknown, position: number): boolean | undefined {
  if (!isRecord(choice) || isRecord(choice["error"])) return undefined;
  let isRepaired = false;
  if (!Number.isInteger(choice["index"])) {
    choice["index"] = position;
    isRepaired = true;
  }
  if (choice["text"] === null || choice["text"] === undefined) {
    choice["text"] = "";
    isRepaired = true;
  }
  return typeof choice["text"] === "string" ? isRepaired : undefined;
}

/** What OpenAI says of tokens that are too unlikely to have a number. */
const veryUnlikely = -9999;

/**
 * Repairs a choice in place whose log probabilities are in the words of chat, as llama.cpp's are. Clients of this API look
 * for its lists.
 * @param offset - how much of the choice's text has come before.
 * @returns whether anything was changed.
 */
export function repairLogprobs(choice: Record<string, unknown>, offset: number): boolean {
  const { logprobs } = choice;
  if (!isRecord(logprobs) || !Array.isArray(logprobs["content"]) || logprobs["tokens"] !== undefined) return false;
  const items = logprobs["content"].filter(isRecord);
  const tokens = items.map(textOf);
  let at = offset;
  choice["logprobs"] = {
    tokens,
    token_logprobs: items.map(chanceOf),
    top_logprobs: items.map(({ top_logprobs: top }) =>
      Object.fromEntries(
        (Array.isArray(top) ? top.filter(isRecord) : []).map((item) => [textOf(item), chanceOf(item)]),
      ),
    ),
    text_offset: tokens.map((token) => {
      at += token.length;
      return at - token.length;
    }),
  };
  return true;
}

function textOf({ token }: Readonly<Record<string, unknown>>): string {
  return typeof token === "string" ? token : "";
}

function chanceOf({ logprob }: Readonly<Record<string, unknown>>): number {
  return typeof logprob === "number" ? logprob : veryUnlikely;
}
