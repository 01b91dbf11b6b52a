import { asBuffer } from "./as-buffer.js";
import { GatewayError, invalidValue } from "./errors.js";
import { foldName } from "./folded-names.js";
import { endOfValue, type JsonMember, memberOf, membersOf, skipSpace } from "./json-members.js";
import { type JsonRequest, mostMembers } from "./json-request.js";

/** Far beyond any API. */
const mostTools = 2048;

/** Those that the client runs. */
const clientTools = ['"function"', '"custom"'];

/**
 * The path of the first tool that is not the client's own to run: a search, a browser, an interpreter of the server's.
 * @throws GatewayError 400 when there are more tools than anybody looks at.
 */
export function hostedTool({ body, leaps }: JsonRequest, { start }: Pick<JsonMember, "start">): string | undefined {
  if (body[start] !== 0x5b) return undefined;
  let position = skipSpace(body, start + 1);
  for (let index = 0; body[position] !== 0x5d; index++) {
    if (index === mostTools) throw tooManyTools();
    const members = body[position] === 0x7b ? membersOf(body, position, mostMembers, leaps) : [];
    if (members.length > mostMembers) {
      throw invalidValue(`tools[${index}]`, `A tool has more than ${mostMembers} members.`);
    }
    if (!isClientTool(body, members)) return `tools[${index}].type`;
    const last = members.at(-1);
    const end = last === undefined ? endOfValue(body, position, leaps) : skipSpace(body, last.end) + 1;
    position = skipSpace(body, end);
    if (body[position] !== 0x2c) return undefined;
    position = skipSpace(body, position + 1);
  }
  return undefined;
}

/** One type, under a name that all readers take for it; or none, as careless clients send functions. */
function isClientTool(body: Uint8Array, members: readonly JsonMember[]): boolean {
  const types = members.filter(({ name }) => name === "type" || (name !== "function" && foldName(name) === "type"));
  const [type] = types;
  if (type === undefined) return members.length === 0 || memberOf(members, "function") !== undefined;
  if (types.length > 1 || type.name !== "type") return false;
  return clientTools.includes(asBuffer(body).toString("latin1", type.start, Math.min(type.end, type.start + 16)));
}

function tooManyTools(): GatewayError {
  return new GatewayError(`'tools' must hold at most ${mostTools} tools.`, {
    status: 400,
    code: "array_above_max_length",
    param: "tools",
  });
}
