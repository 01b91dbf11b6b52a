/** The least that Anthropic takes as a budget. */
export const leastBudget = 1024;

/** Tokens to think with, by effort: Google's own translation of OpenAI's efforts, and its like upwards. */
export const thinkingBudgets: ReadonlyMap<string, number> = new Map([
  ["minimal", 1024],
  ["low", 1024],
  ["medium", 8192],
  ["high", 24_576],
  ["xhigh", 32_768],
  ["max", 32_768],
]);

/** The most of a capped answer that goes into thinking. */
export const thinkingShare = 0.8;

/** Claude from 4.6 on thinks as much as it sees fit, by an effort; what came before has a budget. */
export const adaptiveClaude = /claude-[a-z]+-(?:4-[6-9](?!\d)|[5-9](?!\d)|[1-9]\d(?!\d))/;

/** Claude from 4.5 on, and Opus 4.1, answers by a JSON schema (Anthropic reference, "Structured outputs"). */
const structuredClaude = /claude-(?:opus-4-1(?!\d)|[a-z]+-(?:4-[5-9](?!\d)|[5-9](?!\d)|[1-9]\d(?!\d)))/;

/**
 * How a model of that name is brought to answer by a JSON schema. `enforced`: its server does it. `told`: its server
 * refuses schemas, so that the model has to be asked. `both`: nothing is known of it; some servers read no schema, and
 * say nothing.
 */
export function schemaModeOf(model: string): "enforced" | "told" | "both" {
  if (structuredClaude.test(model)) return "enforced";
  return model.includes("claude") ? "told" : "both";
}
