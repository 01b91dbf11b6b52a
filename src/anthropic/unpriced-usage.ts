import { readTokenCount } from "../metering/token-counts.js";
import { isRecord } from "../wire/is-record.js";

/** Calls of the model that the message names, at its prices. */
const ofModel: ReadonlySet<unknown> = new Set(["message", "compaction"]);

/** What a name is shown as that could be anything. */
const plainName = /^\w{1,64}$/;

/**
 * The first thing in a `usage` that no price of the model is for: a tool that the server has run, such as
 * `web_search_requests`, or a call of another model, such as `advisor_message`.
 */
export function unpricedUsage({ server_tool_use: tools, iterations }: Record<string, unknown>): string | undefined {
  if (isRecord(tools)) {
    const used = Object.keys(tools).find((name) => (readTokenCount(tools[name]) ?? 0) > 0);
    if (used !== undefined) return shown(used);
  }
  if (!Array.isArray(iterations)) return undefined;
  const other: unknown = iterations.find((one) => isRecord(one) && !ofModel.has(one["type"] ?? "message"));
  return isRecord(other) ? shown(other["type"]) : undefined;
}

function shown(name: unknown): string {
  return typeof name === "string" && plainName.test(name) ? name : "unknown";
}
