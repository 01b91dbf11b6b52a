import { StreamFault } from "../../errors/upstream-fault.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import { isEnd, requireNoFailure } from "../shared/received-response.js";
import { requireFewCalls } from "../shared/response-bounds.js";
import { fromErrorObject, type UpstreamFailureContext } from "../shared/upstream-failure.js";
import { findReport, takeChoiceReports } from "../shared/usage-report.js";
import type { ChatProgress } from "./chat-progress.js";
import { finishOf, joinTextParts, outputText } from "./chat-response.js";
import type { ChoiceUsage } from "./choice-usage.js";
import { repairText, StreamedCalls } from "./tool-calls.js";

/** One chunk of a completion's stream, repaired. */
export interface ChatChunk {
  readonly json: Readonly<Record<string, unknown>>;
  /** The JSON as received, without the repairs. */
  readonly text: string;
  /** Whether the choices of `json` differ from those of `text`. */
  readonly isRepaired: boolean;
  /** The `usage` object, if there is one. */
  readonly usage: Record<string, unknown> | undefined;
}

/** Repairs the choices of chunks, and tells the progress of them. */
export interface ChoiceRepair {
  /**
   * Changes a chunk's choices in place.
   * @returns whether anything was changed.
   * @throws StreamFault `garbage`
   */
  repair(choices: readonly unknown[]): boolean;
  /** What ends the choices that have begun, and of which the server has not said why they ended. */
  missingEnds(): readonly object[];
}

/**
 * Reads the events of an upstream's stream of a completion. It finds errors, repairs what would make clients fail, and
 * tracks the progress. The streams for all client protocols are made from these chunks.
 */
export class ChatChunkReader {
  readonly #context: UpstreamFailureContext;
  readonly #progress: ChatProgress;
  readonly #repair: ChoiceRepair;
  readonly #ofChoices: ChoiceUsage | undefined;

  /** @param ofChoices - adds up usage that the server reports for each choice. */
  constructor(
    context: UpstreamFailureContext,
    progress: ChatProgress,
    repair: ChoiceRepair = new ChunkRepair(progress),
    ofChoices?: ChoiceUsage,
  ) {
    this.#context = context;
    this.#progress = progress;
    this.#repair = repair;
    this.#ofChoices = ofChoices;
  }

  /**
   * @returns `undefined` when the event contains no chunk.
   * @throws StreamFault, or GatewayError for an error that the upstream sent.
   */
  read({ data, event }: ServerSentEvent): ChatChunk | undefined {
    const text = data.trim();
    if (this.#progress.isDone || text === "") return undefined;
    if (text === "[DONE]") {
      const last = this.#context.dialect?.finishReason === "optional" ? this.#end() : undefined;
      this.#progress.doneCame();
      return last;
    }
    const json = parse(text);
    // llama.cpp sends it where a further prompt begins.
    if (json === null) return undefined;
    if (event === "error") throw this.#error(isRecord(json) ? (json["error"] ?? json) : json);
    if (!isRecord(json)) throw new StreamFault("garbage");
    const usage = isRecord(json["usage"]) ? json["usage"] : undefined;
    this.#progress.tierCame(json["service_tier"]);
    const error = json["error"] ?? undefined;
    if (error !== undefined) {
      this.#progress.usageCame(findReport(json));
      throw this.#error(error);
    }
    if (json["object"] === "error") throw this.#error(json);

    const choices = json["choices"];
    let isRepaired = false;
    if (Array.isArray(choices)) {
      for (const choice of choices) {
        if (isRecord(choice) && isRecord(choice["error"])) throw this.#error(choice["error"]);
      }
      isRepaired = this.#repair.repair(choices);
    }
    const reported = findReport(json);
    if (Array.isArray(choices) && takeChoiceReports(choices)) isRepaired = true;
    if (reported !== undefined && this.#ofChoices !== undefined) {
      this.#progress.usageCame(this.#ofChoices.add(reported, choices));
      return withoutUsage(json);
    }
    this.#progress.usageCame(reported);
    return { json, text, isRepaired, usage };
  }

  /** The end of choices that the server ends with the stream alone. */
  #end(): ChatChunk | undefined {
    const choices = this.#repair.missingEnds();
    if (choices.length === 0) return undefined;
    this.#repair.repair(choices);
    // What was reported before is of all that there is.
    this.#progress.usageCame(this.#progress.reportedUsage);
    const json = { choices };
    return { json, text: JSON.stringify(json), isRepaired: false, usage: undefined };
  }

  #error(said: unknown): Error {
    return fromErrorObject(said, this.#context);
  }
}

/** The usage of all choices comes at the end of the stream. */
function withoutUsage({ usage: _usage, ...json }: Record<string, unknown>): ChatChunk | undefined {
  const { choices } = json;
  if (!Array.isArray(choices) || choices.length === 0) return undefined;
  return { json, text: JSON.stringify(json), isRepaired: false, usage: undefined };
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new StreamFault("garbage");
  }
}

interface ChoiceState {
  isFinished: boolean;
  /** Made for the first tool call: few choices have any. */
  calls: StreamedCalls | undefined;
}

/** The names under which servers stream reasoning. */
const reasoningMembers = ["reasoning_content", "reasoning", "reasoning_details", "thinking"];

/** The most choices that a request can ask for. */
const mostChoices = 128;

/** Repairs the choices of a stream's chunks where clients would fail, and measures their output. */
class ChunkRepair {
  readonly #progress: ChatProgress;
  readonly #choices = new Map<number, ChoiceState>();

  constructor(progress: ChatProgress) {
    this.#progress = progress;
  }

  /**
   * Changes a chunk's choices in place.
   * @returns whether anything was changed.
   * @throws StreamFault `garbage`
   */
  repair(choices: readonly unknown[]): boolean {
    let isRepaired = false;
    for (const [position, choice] of choices.entries()) {
      if (!isRecord(choice)) throw new StreamFault("garbage");
      if (!Number.isInteger(choice["index"])) {
        choice["index"] = position;
        isRepaired = true;
      }
      if (!isRecord(choice["delta"])) {
        choice["delta"] = {};
        isRepaired = true;
      }
      if (this.#repairChoice(choice, choice["delta"] as Record<string, unknown>)) isRepaired = true;
    }
    return isRepaired;
  }

  #repairChoice(choice: Record<string, unknown>, delta: Record<string, unknown>): boolean {
    const known = this.#choices.get(choice["index"] as number);
    const state = known ?? this.#begin(choice["index"] as number);
    let isRepaired = repairRole(choice, delta, known === undefined);
    if (joinTextParts(choice["delta"] as Record<string, unknown>)) isRepaired = true;
    if (repairCalls(delta, state)) isRepaired = true;
    this.#progress.outputOf(choice["index"] as number).addText(outputText(choice["delta"]));
    if (showsReasoning(delta)) this.#progress.reasoningCame();
    if (state.calls !== undefined) requireFewCalls(state.calls.size);
    return this.#repairEnd(choice, state) || isRepaired;
  }

  #repairEnd(choice: Record<string, unknown>, state: ChoiceState): boolean {
    const finish = choice["finish_reason"] ?? null;
    if (!isEnd(finish)) {
      if (finish !== null) choice["finish_reason"] = null;
      return finish !== null;
    }
    requireNoFailure(finish);
    if (state.isFinished) return false;
    state.isFinished = true;
    this.#progress.choiceFinished();
    if (choice["index"] === 0) this.#progress.finishReason = finish;
    return false;
  }

  missingEnds(): object[] {
    return [...this.#choices].flatMap(([index, { isFinished, calls }]) =>
      isFinished ? [] : [{ index, delta: {}, finish_reason: finishOf(calls !== undefined) }],
    );
  }

  #begin(index: number): ChoiceState {
    if (this.#choices.size === mostChoices) throw new StreamFault("garbage");
    const state = { isFinished: false, calls: undefined };
    this.#choices.set(index, state);
    this.#progress.choiceBegan();
    return state;
  }
}

/** The first delta of a choice must have a role; a later one must not have another role. */
function repairRole(choice: Record<string, unknown>, delta: Record<string, unknown>, isFirst: boolean): boolean {
  if (delta["role"] === "assistant") return false;
  if (isFirst) {
    choice["delta"] = { ...delta, role: "assistant" };
    return true;
  }
  if (typeof delta["role"] !== "string") return false;
  delete delta["role"];
  return true;
}

function repairCalls(delta: Record<string, unknown>, state: ChoiceState): boolean {
  const { tool_calls: calls, function_call: former } = delta;
  const isRepaired = repairText(former, "arguments");
  if (!Array.isArray(calls)) return isRepaired;
  state.calls ??= new StreamedCalls();
  return state.calls.repair(calls) || isRepaired;
}

function showsReasoning(delta: Record<string, unknown>): boolean {
  return reasoningMembers.some((name) => (delta[name] ?? "") !== "");
}
