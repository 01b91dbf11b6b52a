import { GatewayError, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import {
  type JsonRequest,
  parseJsonRequest,
  parseJsonRequestInTurns,
  readCount,
  readMember,
  readModel,
} from "../../model-api/request/json-request.js";
import { namesOtherCap } from "../../model-api/request/other-caps.js";
import { OddPlaces } from "../../model-api/tables/odd-places.js";
import { elementsOf, endOfValue, memberOf, valueAt } from "../../wire/json-members.js";
import { inTurns } from "../../wire/slices.js";
import { responsesTable } from "../tables/responses-table.js";
import { InputCheck, type InputItem } from "./input-outline.js";
import { requireValidMembers, responsesNames } from "./responses-members.js";
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
export function parseResponsesRequest(bytes: Uint8Array, maxDepth: number): ResponsesRequest {
  const request = parseJsonRequest(bytes, maxDepth, responsesNames);
  const model = readModel(request);
  const places = new OddPlaces(responsesTable);
  const input = checkInput(request, places);
  input?.run(request.body.length);
  return toResponsesRequest(request, model, input?.items, places);
}

/** The same for a large body, in slices between which other work can run. */
export async function parseResponsesRequestInTurns(bytes: Uint8Array, maxDepth: number): Promise<ResponsesRequest> {
  const request = await parseJsonRequestInTurns(bytes, maxDepth, responsesNames);
  const model = readModel(request);
  const places = new OddPlaces(responsesTable);
  const input = checkInput(request, places);
  if (input !== undefined) await inTurns(input);
  return toResponsesRequest(request, model, input?.items, places);
}

/** `undefined` when the input is a text or absent. */
function checkInput({ body, members, leaps }: JsonRequest, places: OddPlaces): InputCheck | undefined {
  const member = memberOf(members, "input");
  if (member === undefined || body[member.start] === 0x6e || body[member.start] === 0x22) return undefined;
  return new InputCheck(body, member, leaps, places);
}

function toResponsesRequest(
  request: JsonRequest,
  model: string,
  items: readonly InputItem[] | undefined,
  places: OddPlaces,
): ResponsesRequest {
  const { body, members, leaps, strangers } = request;
  requireValidMembers(request);
  const previousResponseId = readId(request, "previous_response_id");
  const input = memberOf(members, "input");
  const hasInput = input !== undefined && body[input.start] !== 0x6e;
  if (!hasInput && previousResponseId === undefined) throw missingParameter("input");
  if (items?.length === 0 && previousResponseId === undefined) throw emptyInput();
  return {
    body,
    members,
    leaps,
    strangers,
    odd: places.found,
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

function readInclude({ body, members, leaps }: JsonRequest): readonly string[] {
  const member = memberOf(members, "include");
  if (member === undefined || body[member.start] === 0x6e) return nothingIncluded;
  const starts = elementsOf(body, member.start, leaps, mostIncludes);
  if (starts.length > mostIncludes) throw invalidValue("include", `'include' must hold at most ${mostIncludes} names.`);
  return starts.map((start, index) => {
    const name = valueAt(body, { start, end: endOfValue(body, start, leaps) });
    if (typeof name !== "string") throw invalidType(`include[${index}]`, "a string");
    return name;
  });
}

function emptyInput(): GatewayError {
  return new GatewayError("'input' must hold at least one item.", { status: 400, code: "empty_array", param: "input" });
}
