import { Buffer } from "node:buffer";
import { GatewayError, invalidType, invalidValue } from "../../errors/gateway-error.js";
import { asBuffer } from "../../wire/bytes.js";
import {
  absent,
  endOfValue,
  type JsonMember,
  nameAt,
  skipSpace,
  skipString,
  startsWith,
} from "../../wire/json-members.js";
import { MemberSearch } from "../../wire/member-search.js";
import type { JsonRequest } from "./json-request.js";

/** Far more tools than any API accepts. */
const mostTools = 2048;

/** The most members of one tool; far more than any API has. */
const mostMembers = 32;

/** The most members of all tools together. */
const mostMembersInAll = 8192;

/** Types of tools that the client runs. */
const clientTools = ['"function"', '"custom"'];

/** Members of a client's tool that may be objects or lists. Any other one may configure a tool of the server. */
const ownMembers: ReadonlySet<string> = new Set([
  "type",
  "function",
  "custom",
  "parameters",
  "input_schema",
  "format",
  "cache_control",
  "input_examples",
  "allowed_callers",
]);

const search = new MemberSearch(["type", "function"], mostMembers);

/**
 * The path of the first tool that the client does not run itself, such as the server's own search, browser or
 * interpreter.
 * @throws GatewayError 400 when there are more tools than the limit, or `tools` is no list.
 */
export function hostedTool(request: JsonRequest, { start }: Pick<JsonMember, "start">): string | undefined {
  const { body, skips } = request;
  if (!isList(request, start)) throw invalidType("tools", "an array");
  if (body[start] !== 0x5b) return undefined;
  let position = skipSpace(body, start + 1);
  let members = 0;
  for (let index = 0; body[position] !== 0x5d; index++) {
    if (index === mostTools) throw tooMany(`${mostTools} tools`);
    const isObject = body[position] === 0x7b;
    const found = isObject ? foreignMember(request, position, `tools[${index}]`) : "type";
    if (found !== undefined) return `tools[${index}].${found}`;
    if (isObject) members += search.count;
    if (members > mostMembersInAll) throw tooMany(`tools of ${mostMembersInAll} members together`);
    position = skipSpace(body, isObject ? search.end : endOfValue(body, position, skips));
    if (body[position] !== 0x2c) return undefined;
    position = skipSpace(body, position + 1);
  }
  return undefined;
}

/** `functions` contain no tool that a server runs, but they must be a list. @throws GatewayError 400 */
export function requireFunctions(request: JsonRequest, { start }: Pick<JsonMember, "start">): undefined {
  if (!isList(request, start)) throw invalidType("functions", "an array");
}

/** `null` counts as an empty list. */
function isList({ body }: JsonRequest, start: number): boolean {
  return body[start] === 0x5b || body[start] === 0x6e;
}

/**
 * A tool must have one type, in a spelling that all readers accept. No type is accepted, too: some clients omit it for
 * functions.
 */
function foreignMember({ body, skips }: JsonRequest, start: number, path: string): string | undefined {
  const members: number[] = [];
  const fault = search.run(body, start, skips, members);
  if (fault?.reason === "too_many") throw invalidValue(path, `A tool has more than ${mostMembers} members.`);
  if (fault !== undefined) return fault.meant;
  const [type = absent, code = absent] = search.starts;
  if (type >= 0) {
    const text = asBuffer(body).toString("latin1", type, Math.min(search.ends[0] ?? type, type + 16));
    if (!clientTools.includes(text)) return "type";
  }
  const foreign = firstForeign(body, members);
  if (type >= 0 || (foreign === undefined && code >= 0)) return foreign;
  if (foreign !== undefined) return "type";
  if (members.length === 0) return undefined;
  throw invalidValue(`${path}.type`, `'${path}.type' is missing: send 'function' or 'custom'.`);
}

function firstForeign(body: Uint8Array, members: readonly number[]): string | undefined {
  for (let at = 0; at < members.length; at += 3) {
    const name = members[at] ?? 0;
    const value = members[at + 1] ?? 0;
    if (body[value] !== 0x7b && body[value] !== 0x5b) continue;
    const text = nameAt(body, name, skipString(body, name));
    if (!ownMembers.has(text)) return text;
  }
  return undefined;
}

function tooMany(most: string): GatewayError {
  return new GatewayError(`'tools' must hold at most ${most}.`, {
    status: 400,
    code: "array_above_max_length",
    param: "tools",
  });
}

/** Far more options than any template has. */
const mostOptions = 64;

/** Options of a template that some servers read as if they were members of the request. */
const options = ["chat_template", "tokenize"];

const templateSearch = new MemberSearch(options, mostOptions);

const nothing = Buffer.from("null");

/** The path of the option that replaces the template, or its output. */
export function templateOption({ body, skips }: JsonRequest, { name, start }: JsonMember): string | undefined {
  if (body[start] !== 0x7b) return undefined;
  const fault = templateSearch.run(body, start, skips);
  if (fault !== undefined) return fault.reason === "too_many" ? name : `${name}.${fault.name}`;
  for (const [place, option] of options.entries()) {
    const value = templateSearch.starts[place] ?? absent;
    if (value >= 0 && !startsWith(body, value, nothing)) return `${name}.${option}`;
  }
  return undefined;
}
