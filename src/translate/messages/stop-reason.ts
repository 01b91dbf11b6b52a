import { meaningOfEnd } from "../../model-api/answer/ends.js";

/** Why a message ended, as clients of Messages read it. */
export interface MessageStop {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
  readonly stop_details?: { readonly type: "refusal"; readonly category: null; readonly explanation: string | null };
}

/** What has been seen of an answer of chat completions. */
export interface ChatEnding {
  readonly finishReason: string;
  /** A stop sequence that the upstream names, as vLLM and SGLang do. */
  readonly matched: unknown;
  readonly hasCalls: boolean;
  /** What the model has said when it refused; not empty. */
  readonly refusal: string | undefined;
}

export function toMessageStop(ending: ChatEnding, stopSequences: readonly string[]): MessageStop {
  const { finishReason, matched, hasCalls, refusal } = ending;
  const meaning = meaningOfEnd(finishReason);
  if (meaning === "length") return { stop_reason: "max_tokens", stop_sequence: null };
  if (meaning === "content_filter" || refusal !== undefined) {
    return {
      stop_reason: "refusal",
      stop_sequence: null,
      stop_details: { type: "refusal", category: null, explanation: refusal ?? null },
    };
  }
  if (hasCalls) return { stop_reason: "tool_use", stop_sequence: null };
  if (typeof matched === "string" && stopSequences.includes(matched)) {
    return { stop_reason: "stop_sequence", stop_sequence: matched };
  }
  return { stop_reason: "end_turn", stop_sequence: null };
}

/** Where vLLM, and where SGLang, names the stop sequence that it met. */
export function matchedStop(choice: Record<string, unknown>): unknown {
  return choice["stop_reason"] ?? choice["matched_stop"];
}
