import { adaptiveClaude, leastBudget, thinkingBudgets, thinkingShare } from "../../anthropic/claude-thinking.js";
import { type AISDKLanguageModel, providerName } from "../ai-sdk-model.js";
import type { AISDKOptions, AISDKReasoning } from "../ai-sdk-options.js";

/** The efforts that specification v4 knows. */
const levels = ["none", "minimal", "low", "medium", "high", "xhigh", "max"];

/** Bedrock has models of others, too. */
export function isClaude(model: AISDKLanguageModel): boolean {
  const name = providerName(model);
  return name === "anthropic" || (name === "bedrock" && model.modelId.includes("claude"));
}

/** What the request's `reasoning_effort` is to this model. */
export function toReasoning(
  effort: unknown,
  model: AISDKLanguageModel,
  cap: number | undefined,
  custom: AISDKOptions["reasoning"],
): AISDKReasoning & { level?: string } {
  if (typeof effort !== "string") return {};
  if (custom !== undefined) return custom(effort, { maxOutputTokens: cap });
  const name = providerName(model);
  const isClaude = name === "anthropic" || name === "bedrock";
  const isAdaptive = isClaude && adaptiveClaude.test(model.modelId);
  if (model.specificationVersion !== "v2" && model.specificationVersion !== "v3") {
    // The budget that such a model makes of a level goes by the most that it can do, not by the client's cap.
    if (isClaude && !isAdaptive && cap !== undefined) return toBudget(effort, name, cap);
    return levels.includes(effort) ? { level: effort } : {};
  }
  if (name === "anthropic" && isAdaptive) return { providerOptions: { anthropic: toAdaptive(effort) } };
  if (isClaude) return toBudget(effort, name, cap);
  if (name === "google") return { providerOptions: { google: { thinkingConfig: toThinkingConfig(effort, model) } } };
  return { providerOptions: { [name]: { reasoningEffort: effort } } };
}

function toAdaptive(effort: string): Record<string, unknown> {
  if (effort === "none") return { thinking: { type: "disabled" } };
  if (!levels.includes(effort)) return {};
  return { thinking: { type: "adaptive", display: "summarized" }, effort: effort === "minimal" ? "low" : effort };
}

/** They add the budget to the cap, so that it is taken off here: the client's cap holds for both together. */
function toBudget(effort: string, name: "anthropic" | "bedrock", cap: number | undefined): AISDKReasoning {
  const setting = name === "anthropic" ? "thinking" : "reasoningConfig";
  const most = cap === undefined ? Number.POSITIVE_INFINITY : Math.floor(cap * thinkingShare);
  const budget = thinkingBudgets.get(effort);
  if (budget === undefined || most < leastBudget) {
    return effort === "none" ? { providerOptions: { [name]: { [setting]: { type: "disabled" } } } } : {};
  }
  const budgetTokens = Math.min(budget, most);
  return {
    providerOptions: { [name]: { [setting]: { type: "enabled", budgetTokens } } },
    maxOutputTokens: cap === undefined ? undefined : cap - budgetTokens,
  };
}

/** From Gemini 3 on levels, before it budgets. */
function toThinkingConfig(effort: string, { modelId }: AISDKLanguageModel): Record<string, unknown> {
  const generation = Number(/gemini-(\d+)/.exec(modelId)?.[1] ?? 3);
  if (generation < 3) {
    if (effort === "none") return { thinkingBudget: 0 };
    return { thinkingBudget: Math.min(thinkingBudgets.get(effort) ?? 8192, 24_576), includeThoughts: true };
  }
  if (effort === "none") return { thinkingLevel: "minimal" };
  const thinkingLevel = ["minimal", "low", "medium"].includes(effort) ? effort : "high";
  return { thinkingLevel, includeThoughts: true };
}
