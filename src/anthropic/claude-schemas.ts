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
