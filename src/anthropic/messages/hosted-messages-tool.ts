import { GatewayError, invalidType, invalidValue } from "../../errors/gateway-error.js";
import type { OddPlace } from "../../model-api/tables/odd-places.js";
import { elementsOf, memberOf } from "../../wire/json-members.js";
import type { MessagesRequest } from "./messages-request.js";

/**
 * The path of the first tool that the server runs itself, at a price of its own, such as a search of the web: in the
 * request's list, or added by one of its messages.
 *
 * @param lets - whether the operator lets such a tool go. Default: none.
 * @throws GatewayError 400 when the tools are no list of objects, or one cannot be told from another.
 */
export function hostedMessagesTool(
  { body, members, leaps, odd = [] }: MessagesRequest,
  lets: (tool: OddPlace) => boolean = () => false,
): string | undefined {
  const tools = memberOf(members, "tools");
  if (tools !== undefined && body[tools.start] !== 0x6e) {
    if (body[tools.start] !== 0x5b) throw invalidType("tools", "a valid list");
    const wrong = elementsOf(body, tools.start, leaps).findIndex((start) => body[start] !== 0x7b);
    if (wrong >= 0) throw invalidType(`tools[${wrong}]`, "an object");
  }
  const found = odd.find((each) => each.place === "tool" && !lets(each));
  if (found?.name === "") throw invalidValue(found.path, "The tool's members cannot be told apart.");
  return found?.path;
}

/** The refusal of such a tool. @param param - its path. */
export function hostedToolRefused(param: string): GatewayError {
  return new GatewayError(
    "The tool is one that the server runs itself, at a price of its own. Define it as a custom tool.",
    {
      status: 400,
      code: "unsupported_parameter",
      param,
    },
  );
}
