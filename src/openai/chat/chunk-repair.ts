import { StreamFault } from "../../errors/stream-fault.js";
import { requireFewCalls } from "../../model-api/answer/answer-bounds.js";
import { isEnd, requireNoFailure } from "../../model-api/answer/ends.js";
import { isRecord } from "../../wire/is-record.js";
import { finishOf, outputText } from "./chat-answer.js";
import type { ChatProgress } from "./chat-progress.js";
import { joinTextParts } from "./join-text-parts.js";
import { StreamedCalls } from "./streamed-calls.js";
import { repairText } from "./tool-calls.js";

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
export class ChunkRepair {
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
