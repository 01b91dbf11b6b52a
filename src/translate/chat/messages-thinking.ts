import { adaptiveClaude, leastBudget, thinkingBudgets, thinkingShare } from "../../anthropic/claude-thinking.js";
import { isRecord } from "../../wire/is-record.js";

/** How a model is asked to think: as much as it sees fit, by an effort; by a budget; or not at all. */
export type ThinkingMode = "adaptive" | "budget" | "none";

/** What thinking depends on. */
export interface ThinkingTerms {
  readonly mode: ThinkingMode;
  /** The output cap, which holds for thinking, too. */
  readonly maxTokens: number;
  /** A tool must be called. Models do not think then. */
  readonly isForced: boolean;
  /** The model goes on with calls that it has made without thinking before them. */
  readonly continuesWithout: boolean;
}

/** The members of a request for a message that have to do with thinking. */
export interface MessagesThinking {
  readonly thinking?: Record<string, unknown>;
  readonly effort?: string;
}

/** Names of models that think by a budget are all others. */
export function thinkingModeOf(model: string): ThinkingMode {
  return adaptiveClaude.test(model) ? "adaptive" : "budget";
}

/** @param reasoning - OpenRouter's member: `{"effort":…}` or `{"max_tokens":…}`. */
export function messagesThinking(effort: unknown, reasoning: unknown, terms: ThinkingTerms): MessagesThinking {
  const { effort: own, max_tokens: budget } = isRecord(reasoning) ? reasoning : {};
  const asked = typeof effort === "string" ? effort : own;
  if (terms.mode === "none") return {};
  if (asked === "none") return terms.mode === "adaptive" ? { thinking: { type: "disabled" } } : {};
  if (terms.isForced) return {};
  if (terms.mode === "adaptive") return adaptive(asked);
  const tokens =
    typeof budget === "number" ? budget : typeof asked === "string" ? thinkingBudgets.get(asked) : undefined;
  if (tokens === undefined || terms.continuesWithout) return {};
  const most = Math.min(Math.floor(terms.maxTokens * thinkingShare), terms.maxTokens - 1);
  if (most < leastBudget) return {};
  return { thinking: { type: "enabled", budget_tokens: Math.max(leastBudget, Math.min(Math.floor(tokens), most)) } };
}

function adaptive(effort: unknown): MessagesThinking {
  if (typeof effort !== "string" || !thinkingBudgets.has(effort)) return {};
  const thinking = { type: "adaptive", display: "summarized" };
  return { thinking, effort: effort === "minimal" ? "low" : effort };
}
