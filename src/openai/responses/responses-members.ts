import { GatewayError, invalidType, invalidValue } from "../../errors/gateway-error.js";
import { type JsonRequest, readMember } from "../../model-api/request/json-request.js";
import { conversationMembers, RequestNames, reasoningMembers } from "../../model-api/request/request-names.js";
import { memberOf, membersOf } from "../../wire/json-members.js";
import { responsesTable } from "../tables/responses-table.js";

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
export function requireValidMembers(request: JsonRequest): void {
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
function requireFewPairs({ body, members, leaps }: JsonRequest): void {
  const metadata = memberOf(members, "metadata");
  if (metadata === undefined || body[metadata.start] !== 0x7b) return;
  if (membersOf(body, metadata.start, mostPairs, leaps).length <= mostPairs) return;
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
