import { readTokenCount } from "../../metering/token-counts.js";
import { isRecord } from "../../wire/is-record.js";

/** Calls of the model that the response names, at its prices. */
const ofModel: ReadonlySet<unknown> = new Set(["message", "compaction"]);

/** What a name is shown as that could be anything. */
const plainName = /^\w{1,64}$/;

/** Of Anthropic and OpenRouter, and of xAI: the tools that the server has run, and how often. */
const toolCounts = ["server_tool_use", "server_side_tool_usage_details"];

/** Of Perplexity and xAI: what a search takes. */
const searchCounts = ["num_search_queries", "num_sources_used"];

/**
 * The first thing in a `usage` that no price of the model is for: a tool that the server has run, such as
 * `web_search_requests`, or a call of another model, such as `advisor_message`.
 */
export function unpricedUsage(usage: Record<string, unknown>): string | undefined {
  for (const holder of toolCounts) {
    const tools = usage[holder];
    if (!isRecord(tools)) continue;
    const used = Object.keys(tools).find((name) => isSome(tools[name]));
    if (used !== undefined) return shown(used);
  }
  const searched = searchCounts.find((name) => isSome(usage[name]));
  if (searched !== undefined) return searched;
  const { iterations } = usage;
  if (!Array.isArray(iterations)) return undefined;
  const other: unknown = iterations.find((one) => isRecord(one) && !ofModel.has(one["type"] ?? "message"));
  return isRecord(other) ? shown(other["type"]) : undefined;
}

function isSome(count: unknown): boolean {
  return (readTokenCount(count) ?? 0) > 0;
}

function shown(name: unknown): string {
  return typeof name === "string" && plainName.test(name) ? name : "unknown";
}
