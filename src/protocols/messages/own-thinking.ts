import { Buffer } from "node:buffer";
import type { ThoughtSeal } from "../../seal/payload-seal.js";
import { asBuffer } from "../../wire/bytes.js";
import { isRecord } from "../../wire/is-record.js";
import {
  editMembers,
  elementsOf,
  endOfValue,
  memberOf,
  membersOf,
  skipSpace,
  startsWith,
} from "../../wire/json-members.js";
import { ownPayloadPrefix } from "../../wire/own-payload.js";
import type { MessagesRequest } from "./messages-request.js";

const signatureName = Buffer.from('"signature"');
const noSignature = Buffer.from('""');
const ownSignature = Buffer.from(`"${ownPayloadPrefix}`);

/** Of a block: more members than there are. */
const mostMembers = 64;

/**
 * The messages without the thinking that no Anthropic model has signed, which its server refuses: blocks that the gateway
 * has signed itself, or that have no signature. All other blocks stay byte for byte, in their order.
 *
 * @returns the new array, or `undefined` when there is no such block.
 */
export function withoutOwnThinking({
  body,
  members,
  skips,
}: Pick<MessagesRequest, "body" | "members" | "skips">): string | Uint8Array | undefined {
  const messages = memberOf(members, "messages");
  if (messages === undefined || !mayHaveOwn(asBuffer(body).subarray(messages.start, messages.end))) return undefined;
  let isEdited = false;
  const kept: Uint8Array[] = [];
  for (const start of elementsOf(body, messages.start, skips)) {
    const end = endOfValue(body, start, skips);
    const edited = editedMessage(body.subarray(start, end));
    if (edited !== undefined) isEdited = true;
    if (edited !== null) kept.push(edited ?? body.subarray(start, end));
  }
  return isEdited || kept.length === 0 ? joined(kept) : undefined;
}

function mayHaveOwn(bytes: Buffer): boolean {
  for (let at = bytes.indexOf(signatureName); at >= 0; at = bytes.indexOf(signatureName, at + 1)) {
    const value = skipSpace(bytes, skipSpace(bytes, at + signatureName.length) + 1);
    if (isOwn(bytes, value)) return true;
  }
  return false;
}

function isOwn(bytes: Uint8Array, at: number): boolean {
  return startsWith(bytes, at, noSignature) || startsWith(bytes, at, ownSignature);
}

/** `undefined`: as it was; `null`: there is nothing else in it. */
function editedMessage(message: Uint8Array): Uint8Array | null | undefined {
  const members = membersOf(message);
  const content = memberOf(members, "content");
  if (content === undefined || message[content.start] !== 0x5b) return undefined;
  const blocks = elementsOf(message, content.start).map((start) => message.subarray(start, endOfValue(message, start)));
  const kept = blocks.filter((block) => !isOwnThinking(block));
  if (kept.length === blocks.length) return undefined;
  return kept.length === 0 ? null : editMembers(message, members, new Map([["content", joined(kept)]]));
}

function isOwnThinking(block: Uint8Array): boolean {
  if (block[0] !== 0x7b) return false;
  const members = membersOf(block, 0, mostMembers);
  const type = memberOf(members, "type");
  const signature = memberOf(members, "signature");
  if (type === undefined || asBuffer(block).toString("latin1", type.start, type.end) !== '"thinking"') return false;
  return signature === undefined || block[signature.start] === 0x6e || isOwn(block, signature.start);
}

function joined(values: readonly Uint8Array[]): Buffer {
  const comma = Buffer.from(",");
  const pieces = values.flatMap((value, index) => (index === 0 ? [value] : [comma, value]));
  return Buffer.concat([Buffer.from("["), ...pieces, Buffer.from("]")]);
}

/** Under the thinking of a model that speaks chat completions: what it takes back in its next turn. */
interface OwnSignature {
  /** The thinking itself, where the client does not get to see it. */
  readonly text?: string | undefined;
  /** `reasoning_details` as they came. */
  readonly details?: readonly unknown[] | undefined;
  /** `extra_content` of the call that follows, such as a signature of Google's. */
  readonly extra?: Record<string, unknown> | undefined;
}

export function writeOwnSignature(thoughts: ThoughtSeal, { text, details, extra }: OwnSignature): string {
  return thoughts.write({ text, details, extra });
}

/** `undefined` for the signature of another, and for what is none. */
export function readOwnSignature(thoughts: ThoughtSeal, signature: unknown): OwnSignature | undefined {
  const members = thoughts.read(signature);
  if (members === undefined) return undefined;
  const { text, details, extra } = members;
  return {
    text: typeof text === "string" ? text : undefined,
    details: Array.isArray(details) ? details : undefined,
    extra: isRecord(extra) ? extra : undefined,
  };
}
