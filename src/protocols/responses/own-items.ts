import { Buffer } from "node:buffer";
import type { ThoughtSeal } from "../../seal/payload-seal.js";
import { isRecord } from "../../wire/is-record.js";
import { startsWith } from "../../wire/json-members.js";
import { ownPayloadPrefix } from "../../wire/own-payload.js";
import type { Span } from "../shared/message-outline.js";
import type { InputItem } from "./input-outline.js";
import type { ResponsesRequest } from "./responses-request.js";

/** The gateway's own item ids have this after the prefix of their kind. */
const ownMark = "_ig_";

/** The prefixes of item ids in OpenAI's API; `item` is the gateway's own, for items of clients that came without an id. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "tsc" | "sh" | "lsh" | "apc" | "item";

/** The id of an output item that the gateway makes. The same response always gets the same ids. */
export function ownItemId(prefix: ItemPrefix, responseId: string, index: number | string): string {
  // OpenAI accepts ids of at most 64 characters.
  return `${prefix}${ownMark}${responseId.replace(/^resp_/, "").slice(0, 48)}_${index}`;
}

/** Under which name a chat message has thoughts as a text. */
export type ThoughtName = "reasoning_content" | "reasoning";

const marks: Readonly<Record<ThoughtName, string>> = { reasoning_content: "c", reasoning: "r" };
const marked = /^rs_ig_[^_]*_\d+_([cr])(.+)$/;

/**
 * The mark at the end of the id of thoughts: clients that keep the text alone send the id, too.
 * @param origin - an opaque mark of the target, since servers take no thoughts but their own.
 */
export function thoughtMark(origin: string, name: ThoughtName): string {
  return `_${marks[name]}${origin}`;
}

/** Under which name the thoughts of this id go back to their origin; `undefined`: they are of another one. */
export function thoughtNameFor(origin: string, id: unknown): ThoughtName | undefined {
  const [, mark, own] = (typeof id === "string" ? marked.exec(id) : null) ?? [];
  if (own !== origin) return undefined;
  return mark === marks.reasoning ? "reasoning" : "reasoning_content";
}

/** Whether the gateway gave the id. No upstream knows it. */
export function isOwnItemId(id: string): boolean {
  return /^(?:msg|rs|fc|ctc|tsc|sh|lsh|apc|item)_ig_/.test(id);
}

/** Whether the gateway made the item itself, and not its id alone. */
function isOwnItem(id: string): boolean {
  return isOwnItemId(id) && !id.startsWith(`item${ownMark}`);
}

/** A reasoning item that the gateway has made. */
interface OwnThought {
  readonly item: InputItem;
  /** Its `encrypted_content`, if the gateway wrote it. */
  readonly encrypted: Span | undefined;
}

const beginning = Buffer.from(`"${ownPayloadPrefix}`);

/** Whether the gateway has made the reasoning item, which then only it can read. */
export function isOwnThought(body: Uint8Array, { encrypted, id }: InputItem): boolean {
  return hasOwnPayload(body, encrypted) || (id !== undefined && isOwnItem(id));
}

/** The reasoning items of an input that the gateway has made. Only the gateway can read them. */
export function ownThoughts({ body, items }: ResponsesRequest): OwnThought[] {
  return (items ?? []).flatMap((item) => {
    if (item.type !== "reasoning" || !isOwnThought(body, item)) return [];
    return { item, encrypted: hasOwnPayload(body, item.encrypted) ? item.encrypted : undefined };
  });
}

function hasOwnPayload(body: Uint8Array, encrypted: Span | undefined): boolean {
  return encrypted !== undefined && startsWith(body, encrypted.start, beginning);
}

/** Reasoning that a model needs back between tool calls, under the names of chat messages: text, or signed pieces. */
export interface ReasoningMembers {
  readonly reasoning_content?: string;
  readonly reasoning?: string;
  readonly reasoning_details?: readonly unknown[];
  /** The `extra_content` of calls, such as Google's signatures, by the ids of the calls. */
  readonly extra_content?: Readonly<Record<string, unknown>>;
}

/** The `encrypted_content` of a reasoning item, which the client keeps and sends back: what the client may see. */
export function writeReasoning(thoughts: ThoughtSeal, members: ReasoningMembers): string {
  return thoughts.write(members);
}

/** The decoded reasoning; `undefined` for what is another target's, another account's, another server's, or changed. */
export function readReasoning(thoughts: ThoughtSeal, encrypted: unknown): ReasoningMembers | undefined {
  const payload = thoughts.read(encrypted);
  if (payload === undefined) return undefined;
  const { reasoning_content: content, reasoning, reasoning_details: details, extra_content: extra } = payload;
  return {
    ...(typeof content === "string" ? { reasoning_content: content } : undefined),
    ...(typeof reasoning === "string" ? { reasoning } : undefined),
    ...(Array.isArray(details) ? { reasoning_details: details } : undefined),
    ...(isRecord(extra) ? { extra_content: extra } : undefined),
  };
}
