import { entryOf } from "../model-api/request/general-entries.js";
import type { JsonRequest } from "../model-api/request/json-request.js";
import { typeAt } from "../model-api/tables/odd-places.js";
import type { ProtocolTable } from "../model-api/tables/protocol-table.js";
import { asBuffer } from "../wire/as-buffer.js";
import { absent, elementsOf, type JsonMember, memberOf } from "../wire/json-members.js";
import { MemberSearch } from "../wire/member-search.js";
import { type Steps, sliceBytes } from "../wire/slices.js";

/** Members that change nothing of a response, in whatever API. */
export const ignoredMembers: ReadonlySet<string> = new Set([
  "user",
  "safety_identifier",
  "metadata",
  "prompt_cache_key",
  "prompt_cache_retention",
  "client_metadata",
  "store",
]);

/**
 * Whether the response depends on nothing but what the request says: neither on what stands elsewhere, nor on what a server
 * does beside answering.
 * @param table - what is known of its protocol; `undefined`: its members are all alike.
 */
export function* dependsOnItself(request: JsonRequest, table: ProtocolTable | undefined): Steps<boolean> {
  if (request.odd !== undefined || !runsAtClient(request)) return false;
  const isKnown = (member: JsonMember) =>
    table === undefined ||
    ignoredMembers.has(member.name) ||
    table.own.has(member.name) ||
    isPlain(request, member, table);
  return request.members.every(isKnown) && !(yield* refersElsewhere(request.body));
}

function isPlain(request: JsonRequest, member: JsonMember, table: ProtocolTable): boolean {
  const treatment = table.find("member", member.name)?.treatment;
  if (treatment !== undefined && treatment !== "refused" && treatment !== "left out") return true;
  return entryOf(member.name).find(request, member) === undefined;
}

/** Members and types that name what stands elsewhere, and may be another thing tomorrow. */
const references = ['"http', '"HTTP', '"gs://', '"s3://', '"file_id"', '"item_reference"', '"container"'];
const longestReference = 32;

function* refersElsewhere(body: Uint8Array): Steps<boolean> {
  const bytes = asBuffer(body);
  for (let at = 0; at < bytes.length; at += sliceBytes) {
    if (at > 0) yield;
    const slice = bytes.subarray(at, at + sliceBytes + longestReference);
    if (references.some((reference) => slice.includes(reference))) return true;
  }
  return false;
}

const inTool = new MemberSearch(["type"], 1000);
const mostTools = 2048;

/** What a client runs itself: tools without a type are the client's, too. */
const clientTypes: ReadonlySet<string | undefined> = new Set([undefined, "function", "custom"]);

function runsAtClient({ body, members, leaps }: JsonRequest): boolean {
  const tools = memberOf(members, "tools");
  if (tools === undefined || body[tools.start] !== 0x5b) return tools === undefined || body[tools.start] === 0x6e;
  const starts = elementsOf(body, tools.start, leaps, mostTools);
  return starts.length <= mostTools && starts.every((start) => isClients(body, start, leaps));
}

function isClients(body: Uint8Array, start: number, leaps: JsonRequest["leaps"]): boolean {
  if (body[start] !== 0x7b || inTool.run(body, start, leaps) !== undefined) return false;
  return clientTypes.has(typeAt(body, inTool.starts[0] ?? absent, inTool.ends[0] ?? absent));
}
