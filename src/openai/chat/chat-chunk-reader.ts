import { StreamFault } from "../../errors/stream-fault.js";
import { fromErrorObject, type UpstreamFailureContext } from "../../model-api/failure/upstream-failure.js";
import { findReport, takeChoiceReports } from "../../model-api/usage/find-report.js";
import type { ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import type { ChoiceUsage } from "../usage/choice-usage.js";
import type { ChatProgress } from "./chat-progress.js";
import { ChunkRepair } from "./chunk-repair.js";

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
