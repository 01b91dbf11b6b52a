import type { GatewayError } from "../../../errors/gateway-error.js";
import { beyondTarget } from "../../../errors/target-limit.js";
import type { ResponsesRequest } from "../responses-request.js";
import type { ToolSpan } from "../tool-kinds.js";

/** What becomes of tools that a model's server would run itself, at a price of its own. */
export interface HostedToolRules {
  /** Searches of the web, which some clients list in every request. */
  readonly search: "drop" | "refuse" | "pass";
  readonly others: "drop" | "refuse" | "pass";
}

/** Searches go, as a model can do without; what a request was written for is refused. */
export const defaultHostedToolRules: HostedToolRules = { search: "drop", others: "refuse" };

/**
 * The listed tools of a request that are to be left out.
 * @throws GatewayError 400 for one that is to be refused.
 */
export function hostedToolsToDrop(request: ResponsesRequest, rules: HostedToolRules): ToolSpan[] {
  return request.tools.filter((tool) => {
    const { runner } = tool;
    if (runner === "client") return false;
    const rule = runner === "search" ? rules.search : rules.others;
    // Only what is listed by itself can be left out.
    if (rule === "refuse" || (rule === "drop" && !/^tools\[\d+\]$/.test(tool.path)))
      throw unsupportedTool(`${tool.path}.type`, tool.type);
    return rule === "drop";
  });
}

/** A 400 for a tool that is not run here. A client's own tool may be known to another target. */
export function unsupportedTool(param: string, type: string | undefined): GatewayError {
  const shown = type === undefined ? "Tools without a type" : `Tools of the type '${type.slice(0, 100)}'`;
  const message = `${shown} are not supported here. Send tools of the types 'function' and 'custom'.`;
  return beyondTarget(param, message, "unsupported_tool");
}
