import { Buffer } from "node:buffer";
import { GatewayError, invalidJson, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { runtime } from "../../runtime/this-runtime.js";
import { withoutByteOrderMark } from "../../wire/bytes.js";
import { type JsonMember, longestName, memberOf, membersOf, type Scalar, valueAt } from "../../wire/json-members.js";
import { longestNumber } from "../../wire/json-number.js";
import { PathSearch } from "../../wire/json-path.js";
import { JsonCheck, type JsonFault, mostNested } from "../../wire/json-syntax.js";
import { foldName } from "../../wire/member-search.js";
import { noSkips, type Skips, SkipTable } from "../../wire/skip-table.js";
import { type Steps, sliceBytes, slicesOf } from "../../wire/slices.js";
import type { UnknownPlace } from "./protocol-table.js";
import { conversationMembers, misspelledName, type RequestNames, reasoningMembers } from "./request-names.js";

/** A request's JSON object, split into its members. */
export interface JsonRequest {
  /** The bytes as the client sent them. */
  readonly body: Uint8Array;
  readonly members: readonly JsonMember[];
  /** The ends of long values, by their starts. */
  readonly skips: Skips;
  /** Names that few requests have, by their folded forms. No two members of the request have the same folded name. */
  readonly strangers: ReadonlyMap<string, string>;
  /** What inside it does not simply pass at a server that speaks its protocol; `undefined`: nothing. */
  readonly unknown?: readonly UnknownPlace[] | undefined;
}

/** The most members; far more than any API has, and few enough for the memory. */
const mostMembers = 1000;

/** In shorter bodies, in bytes, there are few long values to skip. */
const shortBody = 4096;

/** The gateway reads no longer strings, in bytes. */
const longestText = 4096;

/**
 * Steps, between which others have their turn where the body is large: see {@link bySize}.
 * @param names - of the operation's members.
 * @throws GatewayError 400 when the body is not a JSON object with the same meaning for every parser.
 */
export function* parseJsonRequest(bytes: Uint8Array, maxDepth: number, names: RequestNames): Steps<JsonRequest> {
  const body = withoutByteOrderMark(bytes);
  requireUtf8(body);
  const skips = body.length < shortBody ? undefined : new SkipTable(body.length);
  const check = new JsonCheck(body, maxDepth, skips);
  while (!check.run(check.position + sliceBytes)) yield;
  const { fault } = check;
  if (fault !== undefined) {
    const search = new PathSearch(body, fault.at);
    yield* slicesOf(search);
    throw faultError(body, fault, maxDepth, search.path);
  }
  return takeApart(body, skips ?? noSkips, names);
}

function requireUtf8(body: Uint8Array): void {
  if (body.length === 0) throw invalidJson("The request body is empty. Send a JSON object.");
  if (!runtime.isUtf8(body)) throw invalidJson("The request body is not valid UTF-8.");
}

function takeApart(body: Uint8Array, skips: Skips, names: RequestNames): JsonRequest {
  const members = membersOf(body, 0, mostMembers, skips);
  if (members.length > mostMembers) throw invalidValue(null, `The request has more than ${mostMembers} members.`);
  return { body, members, skips, strangers: checkNames(members, names) };
}

/** Returned by {@link readMember} for a value of a kind that the gateway never reads. */
const unreadable = Symbol("unreadable");

/**
 * The member's value. `undefined` when it is absent or `null`. {@link unreadable} for an object, an array or a long
 * string: these are not parsed.
 */
export function readMember(
  { body, members }: Pick<JsonRequest, "body" | "members">,
  name: string,
): Exclude<Scalar, null> | typeof unreadable | undefined {
  const member = memberOf(members, name);
  if (member === undefined) return undefined;
  if (member.end - member.start > longestText) return unreadable;
  const value = valueAt(body, member);
  return value === undefined ? unreadable : (value ?? undefined);
}

/** @throws GatewayError 400 when there is no model name. */
export function readModel(request: JsonRequest): string {
  const model = readMember(request, "model");
  if (model === undefined) throw missingParameter("model");
  if (model === unreadable && isString(request, "model")) {
    throw invalidValue("model", `'model' must be at most ${longestText} bytes long.`);
  }
  if (typeof model !== "string") throw invalidType("model", "a string");
  if (model === "") throw invalidValue("model", "'model' must not be empty.");
  return model;
}

function isString({ body, members }: JsonRequest, name: string): boolean {
  const member = memberOf(members, name);
  return member !== undefined && body[member.start] === 0x22;
}

/** @throws GatewayError 400 when the value is no integer between `least` and `most`. */
export function readCount(name: string, value: unknown, most = Number.MAX_SAFE_INTEGER, least = 1): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "number") throw invalidType(name, "an integer");
  if (!Number.isInteger(value)) throw invalidType(name, "an integer");
  if (value < least) throw invalidValue(name, `'${name}' must be at least ${least}.`);
  if (value > most) throw invalidValue(name, `'${name}' must be at most ${most}.`);
  return value;
}

/** @throws GatewayError 400 when the value is no boolean. */
export function readBoolean(request: Pick<JsonRequest, "body" | "members">, name: string): boolean {
  const value = readMember(request, name);
  if (value !== undefined && typeof value !== "boolean") throw invalidType(name, "a boolean");
  return value === true;
}

/** The common names of members, by their folded forms. No two of them have the same folded form. */
export const usualNames: ReadonlyMap<string, string> = new Map(
  [
    ...conversationMembers,
    ...reasoningMembers,
    "dimensions",
    "encoding_format",
    "frequency_penalty",
    "include",
    "instructions",
    "logit_bias",
    "logprobs",
    "max_output_tokens",
    "metadata",
    "presence_penalty",
    "previous_response_id",
    "prompt_cache_key",
    "response_format",
    "safety_identifier",
    "seed",
    "service_tier",
    "stop",
    "stop_sequences",
    "store",
    "system",
    "temperature",
    "text",
    "thinking",
    "top_k",
    "top_logprobs",
    "top_p",
    "truncation",
    "user",
  ].map((name) => [foldName(name), name]),
);

const isUsual: ReadonlySet<string> = new Set(usualNames.values());

const noNames: ReadonlyMap<string, string> = new Map();

/**
 * Refuses repeated and misspelled names. Servers differ in which of two equal names they read, and in which spellings
 * are equal. The gateway must read the same value as every server. Members that it does not read must be unique, too: a
 * dialect may remove them by name.
 */
function checkNames(members: readonly JsonMember[], names: RequestNames): ReadonlyMap<string, string> {
  let strangers: Map<string, string> | undefined;
  for (const member of members) {
    const { name, escaped } = member;
    if (escaped) throw invalidJson("Member names at the top level must be written without escapes.");
    if (isUsual.has(name)) {
      if (memberOf(members, name) !== member) throw appearsTwice(name);
      continue;
    }
    if (Buffer.byteLength(name) >= longestName) {
      throw invalidValue(name.slice(0, 200), `The name of a member must have less than ${longestName} bytes.`);
    }
    const folded = foldName(name);
    const meant = names.meantBy(name, folded);
    if (meant !== undefined) throw misspelledName(name, meant);
    const usual = usualNames.get(folded);
    if (usual !== undefined && memberOf(members, usual) !== undefined) throw misspelledName(name, usual);
    strangers ??= new Map();
    const twin = strangers.get(folded);
    if (twin === name) throw appearsTwice(name);
    if (twin !== undefined) throw misspelledName(name, twin);
    strangers.set(folded, name);
  }
  return strangers ?? noNames;
}

function appearsTwice(name: string): GatewayError {
  return new GatewayError("The member appears twice.", {
    status: 400,
    code: "invalid_json",
    param: name.slice(0, 200),
  });
}

function faultError(body: Uint8Array, fault: JsonFault, maxDepth: number, param: string | null): GatewayError {
  switch (fault.reason) {
    case "not_object":
      return invalidJson("The request body must be a JSON object.");
    case "too_deep":
      return invalidValue(param, `The request body is nested more than ${maxDepth} levels deep.`);
    case "too_many":
      return invalidValue(null, `The request body has more than ${mostNested} members, objects and arrays in all.`);
    case "long_number":
      return invalidValue(param, `The number has more than ${longestNumber} characters.`);
    case "not_finite":
      return invalidValue(param, "The number is too large.");
    case "prototype_key":
      return invalidValue(param, "A member must not be named '__proto__'.");
    default:
      return invalidJson(`The request body is not valid JSON: unexpected ${found(body, fault.at)}.`);
  }
}

function found(body: Uint8Array, at: number): string {
  return at >= body.length ? "end of the text" : `character at byte ${at}`;
}

/** How deep the JSON of a body may be nested at the most, whatever a gateway's options say. */
export const deepestBody = 5000;
