import { invalidType, invalidValue } from "../errors/gateway-error.js";
import type { JsonRequest } from "../model-api/request/json-request.js";
import { misspelledName } from "../model-api/request/misspelled-name.js";
import { readStreamOptions } from "../model-api/request/request-names.js";
import { ExactNames, findTwins } from "../wire/folded-names.js";
import { editMembers, type JsonMember, memberOf, membersOf, valueAt } from "../wire/json-members.js";

const name = "stream_options";

/** Far longer than all options together, in bytes. */
const longestOptions = 4096;

const exactNames = new ExactNames(readStreamOptions);

/**
 * Whether the client requests the usage chunk of a stream.
 * @throws GatewayError 400 when a server could read the options in another way.
 */
export function readIncludeUsage(request: JsonRequest): boolean {
  const member = optionsOf(request);
  if (member === undefined) return false;
  const { body } = request;
  if (body[member.start] !== 0x7b) throw invalidType(name, "an object");
  if (member.end - member.start > longestOptions) {
    throw invalidValue(name, `'${name}' must be at most ${longestOptions} bytes long.`);
  }
  const options = membersOf(body, member.start);
  const names = options.map((option) => option.name);
  for (const each of names) {
    const meant = exactNames.meantBy(each);
    if (meant !== undefined) throw misspelledName(each, meant, name);
  }
  const twins = findTwins(names);
  if (twins !== undefined) throw misspelledName(twins[1], twins[0], name);
  const asked = memberOf(options, "include_usage");
  if (asked === undefined || body[asked.start] === 0x6e) return false;
  const value = valueAt(body, asked);
  if (typeof value !== "boolean") throw invalidType(`${name}.include_usage`, "a boolean");
  return value;
}

/** The options with the request for the usage chunk. */
export function withIncludeUsage(request: JsonRequest): string | Uint8Array {
  const member = optionsOf(request);
  if (member === undefined) return '{"include_usage":true}';
  const options = request.body.subarray(member.start, member.end);
  return editMembers(options, membersOf(options), new Map([["include_usage", "true"]]));
}

/** `undefined` when there are none. */
function optionsOf({ body, members }: JsonRequest): JsonMember | undefined {
  const member = memberOf(members, name);
  return member === undefined || body[member.start] === 0x6e ? undefined : member;
}
