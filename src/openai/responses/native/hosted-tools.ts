import type { GatewayError } from "../../../errors/gateway-error.js";
import { beyondTarget } from "../../../errors/target-limit.js";
import type { ResponsesRequest } from "../responses-request.js";
import type { ToolSpan } from "../tool-kinds.js";

/**
 * The tools in the request's list that the model's server would run itself, at a price of its own, and that must be
 * removed: web searches, which some clients list in every request. A model can work without them.
 *
 * @param lets - whether the operator lets tools of the type go. Default: none.
 * @throws GatewayError 400 for any other such tool, which the request needs.
 */
export function hostedToolsToDrop(
  request: ResponsesRequest,
  lets: (type: string) => boolean = () => false,
): readonly ToolSpan[] {
  if (request.tools.length === 0) return request.tools;
  return request.tools.filter((tool) => {
    const { runner, type } = tool;
    if (runner === "client" || (type !== undefined && lets(type))) return false;
    // Only a tool in the request's own list can be removed.
    if (runner === "search" && /^tools\[\d+\]$/.test(tool.path)) return true;
    throw unsupportedTool(`${tool.path}.type`, tool.type);
  });
}

/** A 400 for a tool that is not available here. Another target may know the client's own tools. */
export function unsupportedTool(param: string, type: string | undefined): GatewayError {
  const shown = type === undefined ? "Tools without a type" : `Tools of the type '${type.slice(0, 100)}'`;
  const message = `${shown} are not supported here. Send tools of the types 'function' and 'custom'.`;
  return beyondTarget(param, message, "unsupported_tool");
}
