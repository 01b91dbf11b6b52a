import type { GatewayError } from "../../../errors/gateway-error.js";
import { beyondTarget } from "../../../errors/target-limit.js";
import type { ResponsesRequest } from "../responses-request.js";
import type { ToolSpan } from "../tool-kinds.js";

/** What happens to tools that the model's server would run itself, at a price of its own. */
export interface HostedToolRules {
  /** Web searches, which some clients list in every request. */
  readonly search: "drop" | "refuse" | "pass";
  readonly others: "drop" | "refuse" | "pass";
}

/** Searches are removed, since a model can work without them. Other tools, which the request needs, are refused. */
export const defaultHostedToolRules: HostedToolRules = { search: "drop", others: "refuse" };

/**
 * The tools in the request's list that must be removed.
 * @throws GatewayError 400 for a tool that must be refused.
 */
export function hostedToolsToDrop(request: ResponsesRequest, rules: HostedToolRules): ToolSpan[] {
  return request.tools.filter((tool) => {
    const { runner } = tool;
    if (runner === "client") return false;
    const rule = runner === "search" ? rules.search : rules.others;
    // Only a tool in the request's own list can be removed.
    if (rule === "refuse" || (rule === "drop" && !/^tools\[\d+\]$/.test(tool.path)))
      throw unsupportedTool(`${tool.path}.type`, tool.type);
    return rule === "drop";
  });
}

/** A 400 for a tool that is not available here. Another target may know the client's own tools. */
export function unsupportedTool(param: string, type: string | undefined): GatewayError {
  const shown = type === undefined ? "Tools without a type" : `Tools of the type '${type.slice(0, 100)}'`;
  const message = `${shown} are not supported here. Send tools of the types 'function' and 'custom'.`;
  return beyondTarget(param, message, "unsupported_tool");
}
