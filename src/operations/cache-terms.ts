import { asBuffer } from "../wire/as-buffer.js";
import { isRecord } from "../wire/is-record.js";
import { type JsonMember, memberOf, membersOf } from "../wire/json-members.js";

/** Which responses of an operation may be kept for equal requests. */
export interface CacheTerms {
  /** Members that change nothing of the response. */
  readonly ignored: ReadonlySet<string>;
  /** Headers that change it. Names are in lower case. */
  readonly headers: readonly string[];
  /** Whether the response to a request depends on nothing but its own bytes. */
  allows(body: Uint8Array): boolean;
}

const ignored: ReadonlySet<string> = new Set([
  ...[
    "user",
    "safety_identifier",
    "metadata",
    "prompt_cache_key",
    "prompt_cache_retention",
    "client_metadata",
    "store",
  ],
]);

/** Of requests that are whole in themselves. */
export const plainCache: CacheTerms = { ignored, headers: [], allows: isSelfContained };

/** Of requests of the Messages API, whose headers choose features. */
export const messagesCache: CacheTerms = { ...plainCache, headers: ["anthropic-version", "anthropic-beta"] };

/** Of requests of the Responses API: what is kept for later, or goes on from what was kept, is more than a response. */
export const responsesCache: CacheTerms = {
  ...plainCache,
  allows(body) {
    const members = membersOf(body);
    const store = memberOf(members, "store");
    const isKept = store === undefined || body[store.start] !== 0x66;
    return !isKept && !isGiven(body, memberOf(members, "previous_response_id")) && isSelfContained(body);
  },
};

/** Members and types that name what stands elsewhere, and may be another thing tomorrow. */
const references = ['"http', '"HTTP', '"file_id"', '"item_reference"', '"container"'];

/** Media by URL, uploads, and tools that the server runs make a response depend on more than the request. */
function isSelfContained(body: Uint8Array): boolean {
  const bytes = asBuffer(body);
  if (references.some((reference) => bytes.includes(reference))) return false;
  const members = membersOf(body);
  const tools = memberOf(members, "tools");
  return !isGiven(body, tools) || runsAtClient(JSON.parse(bytes.toString("utf8", tools?.start, tools?.end)));
}

function runsAtClient(tools: unknown): boolean {
  return Array.isArray(tools) && tools.every((tool) => isRecord(tool) && clientTypes.has(tool["type"]));
}

/** A tool of the Messages API without a type is the client's. */
const clientTypes: ReadonlySet<unknown> = new Set([undefined, "function", "custom"]);

function isGiven(body: Uint8Array, member: JsonMember | undefined): boolean {
  return member !== undefined && body[member.start] !== 0x6e;
}
