import { GatewayError, invalidType, invalidValue } from "../../errors/gateway-error.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { absent, elementsOf, memberOf } from "../../wire/json-members.js";
import { MemberSearch } from "../../wire/member-search.js";
import type { MessagesRequest } from "./messages-request.js";

/** Of one tool: far beyond any API. */
const mostMembers = 64;

/** Of what the client runs, the gateway looks at no more. */
const longestType = 64;

/** Tools that Anthropic describes and the client runs, and the search of the request's own tools, which has no price. */
const unpriced =
  /^"(?:custom|(?:bash|text_editor|memory|computer|computer_toolset|browser_toolset)_\d+|tool_search_tool_[a-z0-9_]+)"$/;

const search = new MemberSearch(["type"], mostMembers);

/**
 * The path of the first tool that the server runs itself, at a price of its own, such as a search of the web.
 * @throws GatewayError 400 when the tools are no list of objects.
 */
export function hostedMessagesTool({ body, members, leaps }: MessagesRequest): string | undefined {
  const tools = memberOf(members, "tools");
  if (tools === undefined || body[tools.start] === 0x6e) return undefined;
  if (body[tools.start] !== 0x5b) throw invalidType("tools", "a valid list");
  for (const [index, start] of elementsOf(body, tools.start, leaps).entries()) {
    const path = `tools[${index}]`;
    if (body[start] !== 0x7b) throw invalidType(path, "an object");
    const fault = search.run(body, start, leaps);
    if (fault !== undefined) throw invalidValue(path, "The tool's members cannot be told apart.");
    const type = search.starts[0] ?? absent;
    if (type === absent || body[type] === 0x6e) continue;
    const end = Math.min(search.ends[0] ?? type, type + longestType);
    if (!unpriced.test(asBuffer(body).toString("latin1", type, end))) return path;
  }
  return undefined;
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
