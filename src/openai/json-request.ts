import { isUtf8 } from "node:buffer";
import { withoutByteOrderMark } from "./byte-order-mark.js";
import { GatewayError, invalidJson, invalidType, invalidValue, missingParameter } from "./errors.js";
import { type JsonMember, type Leaps, memberOf, membersOf, noLeaps, valueAt } from "./json-members.js";
import { pathAt } from "./json-path.js";
import { findJsonFault, type JsonFault, longValue } from "./json-syntax.js";

/** A request's JSON object, taken apart as far as its members. */
export interface JsonRequest {
  /** The text as the client sent it. */
  readonly body: Uint8Array;
  readonly members: readonly JsonMember[];
  /** The ends of long values by their starts. */
  readonly leaps: Leaps;
}

/** Far beyond any API, and far below what would fill the memory. */
export const mostMembers = 1000;

/** @throws GatewayError 400 when it is no JSON object that every reader takes for the same. */
export function parseJsonRequest(bytes: Uint8Array, maxDepth: number): JsonRequest {
  const body = withoutByteOrderMark(bytes);
  if (body.length === 0) throw invalidJson("The request body is empty. Send a JSON object.");
  if (!isUtf8(body)) throw invalidJson("The request body is not valid UTF-8.");
  const noted = body.length < longValue ? undefined : new Map<number, number>();
  const fault = findJsonFault(body, maxDepth, noted);
  const leaps = noted ?? noLeaps;
  if (fault !== undefined) throw faultError(body, fault, maxDepth);
  const members = membersOf(body, 0, mostMembers, leaps);
  if (members.length > mostMembers) throw invalidValue(null, `The request has more than ${mostMembers} members.`);
  checkNames(members);
  return { body, members, leaps };
}

/** The member's value, parsed; `undefined` where it is absent or `null`. Meant for small ones. */
export function readMember({ body, members }: Pick<JsonRequest, "body" | "members">, name: string): unknown {
  const member = memberOf(members, name);
  return member === undefined ? undefined : (valueAt(body, member) ?? undefined);
}

/** @throws GatewayError 400 when there is no model's name. */
export function readModel(request: JsonRequest): string {
  const model = readMember(request, "model");
  if (model === undefined) throw missingParameter("model");
  if (typeof model !== "string") throw invalidType("model", "a string");
  if (model === "") throw invalidValue("model", "'model' must not be empty.");
  return model;
}

/** @throws GatewayError 400 when the value is no whole number between 1 and `most`. */
export function readCount(name: string, value: unknown, most = Number.MAX_SAFE_INTEGER): number | undefined {
  if (value === undefined) return undefined;
  if (typeof value !== "number") throw invalidType(name, "an integer");
  if (!Number.isInteger(value)) throw invalidType(name, "an integer");
  if (value < 1) throw invalidValue(name, `'${name}' must be at least 1.`);
  if (value > most) throw invalidValue(name, `'${name}' must be at most ${most}.`);
  return value;
}

/** So many names are compared with each other faster than they are put into a set. */
const fewMembers = 24;

function checkNames(members: readonly JsonMember[]): void {
  const seen = members.length > fewMembers ? new Set<string>() : undefined;
  for (const member of members) {
    const { name, escaped } = member;
    if (escaped) throw invalidJson("Member names at the top level must be written without escapes.");
    const isNew = seen === undefined ? memberOf(members, name) === member : !seen.has(name);
    if (!isNew) {
      throw new GatewayError("The member appears twice.", {
        status: 400,
        code: "invalid_json",
        param: name.slice(0, 200),
      });
    }
    seen?.add(name);
  }
}

function faultError(body: Uint8Array, fault: JsonFault, maxDepth: number): GatewayError {
  const param = pathAt(body, fault.at);
  switch (fault.reason) {
    case "not_object":
      return invalidJson("The request body must be a JSON object.");
    case "too_deep":
      return invalidValue(param, `The request body is nested more than ${maxDepth} levels deep.`);
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
