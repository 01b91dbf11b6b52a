import { GatewayError, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { elementsOf, endOfValue, memberOf, membersOf, valueAt } from "../../wire/json-members.js";
import { type Steps, slicesOf } from "../../wire/slices.js";
import { namesOtherCap } from "../shared/demand.js";
import { type JsonRequest, parseJsonRequest, readCount, readMember, readModel } from "../shared/json-request.js";
import { UnknownPlaces } from "../shared/protocol-table.js";
import { conversationMembers, RequestNames, reasoningMembers } from "../shared/request-names.js";
import { InputCheck, type InputItem } from "./input-outline.js";
import { responsesTable } from "./responses-table.js";
import { readTools, type ToolSpan } from "./tool-kinds.js";

/** The members of a Responses request that the gateway reads (OpenAI reference, "Create a model response"). */
export interface ResponsesRequest extends JsonRequest {
  readonly model: string;
  readonly stream: boolean;
  /** The items of the input, in order; `undefined` when the input is a text or absent. */
  readonly items: readonly InputItem[] | undefined;
  /** Including those within namespaces and items. */
  readonly tools: readonly ToolSpan[];
  /** The most tokens of the response, including reasoning. */
  readonly maxOutputTokens: number | undefined;
  /** Whether some server may heed another cap of it. */
  readonly namesOtherCap: boolean;
  /** Whether the client wants to refer to the response later. OpenAI's default is `true`. */
  readonly store: boolean;
  readonly previousResponseId: string | undefined;
  /** Additional output that the client requests, such as `reasoning.encrypted_content`. */
  readonly include: readonly string[];
}

/** The names of its output cap. */
export const responsesCaps = ["max_output_tokens"] as const;

/** Far more than there are. */
const mostIncludes = 64;

/**
 * Checks the members that the gateway reads. Every other member stays unchanged.
 * @throws GatewayError 400
 */
export function* parseResponsesRequest(bytes: Uint8Array, maxDepth: number): Steps<ResponsesRequest> {
  const request = yield* parseJsonRequest(bytes, maxDepth, responsesNames);
  const model = readModel(request);
  const places = new UnknownPlaces(responsesTable);
  const input = checkInput(request, places);
  if (input !== undefined) yield* slicesOf(input);
  return toResponsesRequest(request, model, input?.items, places);
}

/** `undefined` when the input is a text or absent. */
function checkInput({ body, members, skips }: JsonRequest, places: UnknownPlaces): InputCheck | undefined {
  const member = memberOf(members, "input");
  if (member === undefined || body[member.start] === 0x6e || body[member.start] === 0x22) return undefined;
  return new InputCheck(body, member, skips, places);
}

function toResponsesRequest(
  request: JsonRequest,
  model: string,
  items: readonly InputItem[] | undefined,
  places: UnknownPlaces,
): ResponsesRequest {
  const { body, members, skips, strangers } = request;
  requireValidMembers(request);
  const previousResponseId = readId(request, "previous_response_id");
  const input = memberOf(members, "input");
  const hasInput = input !== undefined && body[input.start] !== 0x6e;
  if (!hasInput && previousResponseId === undefined) throw missingParameter("input");
  if (items?.length === 0 && previousResponseId === undefined) throw emptyInput();
  return {
    body,
    members,
    skips,
    strangers,
    unknown: places.found,
    model,
    stream: readMember(request, "stream") === true,
    items,
    tools: readTools(request, items),
    maxOutputTokens: readCount("max_output_tokens", readMember(request, "max_output_tokens")),
    namesOtherCap: namesOtherCap(request, responsesCaps),
    store: readMember(request, "store") !== false,
    previousResponseId,
    include: readInclude(request),
  };
}

function readId(request: JsonRequest, name: string): string | undefined {
  const id = readMember(request, name);
  if (id === undefined) return undefined;
  if (typeof id !== "string") throw invalidType(name, "a string");
  if (id === "") throw invalidValue(name, `'${name}' must not be empty.`);
  return id;
}

const nothingIncluded: readonly string[] = [];

function readInclude({ body, members, skips }: JsonRequest): readonly string[] {
  const member = memberOf(members, "include");
  if (member === undefined || body[member.start] === 0x6e) return nothingIncluded;
  const starts = elementsOf(body, member.start, skips, mostIncludes);
  if (starts.length > mostIncludes) throw invalidValue("include", `'include' must hold at most ${mostIncludes} names.`);
  return starts.map((start, index) => {
    const name = valueAt(body, { start, end: endOfValue(body, start, skips) });
    if (typeof name !== "string") throw invalidType(`include[${index}]`, "a string");
    return name;
  });
}

function emptyInput(): GatewayError {
  return new GatewayError("'input' must hold at least one item.", { status: 400, code: "empty_array", param: "input" });
}

/** The kind of a member's value. `null` always counts as absent. */
type Kind = "string" | "boolean" | "object" | "array" | "string or object";

/** The members of a request that the gateway reads or edits, besides `model`, `input` and counts. */
const kinds: ReadonlyMap<string, Kind> = new Map<string, Kind>([
  ["stream", "boolean"],
  ["stream_options", "object"],
  ["store", "boolean"],
  ["instructions", "string"],
  ["previous_response_id", "string"],
  ["include", "array"],
  ["tools", "array"],
  ["tool_choice", "string or object"],
  ["parallel_tool_calls", "boolean"],
  ["text", "object"],
  ["reasoning", "object"],
  ["metadata", "object"],
]);

const firstBytes: Readonly<Record<Kind, readonly number[]>> = {
  string: [0x22],
  boolean: [0x74, 0x66],
  object: [0x7b],
  array: [0x5b],
  "string or object": [0x22, 0x7b],
};

/** Members that are refused unless their value is neutral, and what to do instead. */
const refused: ReadonlyMap<string, string> = new Map(
  responsesTable.rows
    .filter(({ place, always }) => place === "member" && always === true)
    .flatMap(({ names, advice = "" }) => names.map((name): [string, string] => [name, advice])),
);

/** Hosts' hooks may set these: they change no more than the answer. */
const open = ["include", "text", "reasoning", "metadata", "top_logprobs", "truncation"];

export const responsesNames = new RequestNames({
  owned: [...new Set([...conversationMembers, ...kinds.keys(), ...refused.keys(), "max_output_tokens"])].filter(
    (name) => !open.includes(name),
  ),
  open: [...open, ...reasoningMembers.filter((name) => !open.includes(name))],
});

const mostPairs = 16;

/** @throws GatewayError 400 for a value of the wrong kind, and for a feature that this API does not have. */
function requireValidMembers(request: JsonRequest): void {
  requireFewPairs(request);
  const { body, members } = request;
  for (const { name, start } of members) {
    const kind = kinds.get(name);
    if (kind !== undefined && body[start] !== 0x6e && !firstBytes[kind].includes(body[start] ?? 0)) {
      throw invalidType(name, kind === "object" || kind === "array" ? `an ${kind}` : `a ${kind}`);
    }
    const advice = refused.get(name);
    if (advice !== undefined && !isIdle(request, name)) throw unsupportedParameter(name, advice);
  }
}

/** @throws GatewayError 400 for more metadata than OpenAI accepts: each response repeats them. */
function requireFewPairs({ body, members, skips }: JsonRequest): void {
  const metadata = memberOf(members, "metadata");
  if (metadata === undefined || body[metadata.start] !== 0x7b) return;
  if (membersOf(body, metadata.start, mostPairs, skips).length <= mostPairs) return;
  throw invalidValue("metadata", `'metadata' must hold at most ${mostPairs} pairs.`);
}

function isIdle(request: JsonRequest, name: string): boolean {
  const value = readMember(request, name);
  return value === undefined || value === false || (name === "n" && value === 1);
}

/** A 400 for a parameter that is not supported here, or by this model. */
function unsupportedParameter(param: string, advice: string): GatewayError {
  return new GatewayError(`'${param}' is not supported here. ${advice}`, {
    status: 400,
    code: "unsupported_parameter",
    param,
  });
}
