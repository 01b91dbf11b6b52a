import { Buffer, isAscii } from "node:buffer";
import { asBuffer } from "./as-buffer.js";
import type { AnswerContext } from "./chat-answer.js";
import { elementsOf, type JsonMember, membersOf, splice, startsWith, valueAt } from "./json-members.js";
import { findJsonFault } from "./json-syntax.js";
import type { ModelAnswer } from "./model-answer.js";
import { hasUsageTotals, readUsage, visibleUsage } from "./usage.js";

/** Deeper than any answer; what is deeper still is read in full. */
const mostLevels = 64;

/** More members than any answer has; they are compared with each other. */
const mostMembers = 32;

/**
 * Does what `toChatAnswer` does with an answer in which nothing is to be mended but the model's name, as most are, but
 * without building its values, which takes longer than all the rest.
 *
 * @returns `undefined` when the answer has to be read in full.
 */
export function readPlainAnswer(bytes: Uint8Array, context: AnswerContext): ModelAnswer | undefined {
  if (findJsonFault(bytes, mostLevels) !== undefined) return undefined;
  const members = distinctMembers(bytes, 0);
  const model = members && memberOf(members, "model");
  if (members === undefined || model === undefined || memberOf(members, "error") !== undefined) return undefined;
  if (!begins(bytes, memberOf(members, "id"), idStart)) return undefined;
  if (!begins(bytes, memberOf(members, "object"), objectText)) return undefined;
  if (!isWhole(bytes, memberOf(members, "created"))) return undefined;
  if (!arePlainChoices(bytes, memberOf(members, "choices"))) return undefined;
  const usage = memberOf(members, "usage");
  const reported = usage && valueAt(bytes, usage);
  const isShown = hasUsageTotals(reported) && visibleUsage(reported, context.dialect) === reported;
  const tokens = isShown ? readUsage(reported) : undefined;
  if (tokens === undefined) return undefined;

  const { start, end } = model;
  const named = JSON.stringify(context.model);
  if (!isAscii(bytes)) return { body: splice(bytes, start, end, named), tokens, estimated: false };
  const text = asBuffer(bytes).toString("latin1");
  return { body: text.slice(0, start) + named + text.slice(end), tokens, estimated: false };
}

const idStart = Buffer.from('"chatcmpl-');
const objectText = Buffer.from('"chat.completion"');
const roleText = Buffer.from('"assistant"');
const textStart = Buffer.from('"');

function arePlainChoices(bytes: Uint8Array, choices: JsonMember | undefined): boolean {
  if (choices === undefined || bytes[choices.start] !== 0x5b) return false;
  const elements = elementsOf(bytes, choices.start);
  for (const element of elements) if (!isPlainChoice(bytes, element)) return false;
  return elements.length > 0;
}

function isPlainChoice(bytes: Uint8Array, start: number): boolean {
  const members = bytes[start] === 0x7b ? distinctMembers(bytes, start) : undefined;
  const message = members && memberOf(members, "message");
  if (members === undefined || message === undefined || bytes[message.start] !== 0x7b) return false;
  if (!isWhole(bytes, memberOf(members, "index")) || memberOf(members, "error") !== undefined) return false;
  if (!begins(bytes, memberOf(members, "finish_reason"), textStart)) return false;
  const parts = distinctMembers(bytes, message.start);
  if (parts === undefined || memberOf(parts, "tool_calls") !== undefined) return false;
  const content = memberOf(parts, "content");
  // In parts, it may have to be joined.
  return begins(bytes, memberOf(parts, "role"), roleText) && content !== undefined && bytes[content.start] !== 0x5b;
}

/** @returns `undefined` when two have the same name, or one is spelled with escapes. */
function distinctMembers(bytes: Uint8Array, start: number): readonly JsonMember[] | undefined {
  const members = membersOf(bytes, start, mostMembers);
  if (members.length > mostMembers) return undefined;
  for (const member of members) if (member.escaped || memberOf(members, member.name) !== member) return undefined;
  return members;
}

function memberOf(members: readonly JsonMember[], name: string): JsonMember | undefined {
  for (const member of members) if (member.name === name) return member;
  return undefined;
}

function begins(bytes: Uint8Array, member: JsonMember | undefined, text: Buffer): boolean {
  return member !== undefined && startsWith(bytes, member.start, text);
}

function isWhole(bytes: Uint8Array, member: JsonMember | undefined): boolean {
  if (member === undefined) return false;
  for (let position = member.start; position < member.end; position++) {
    const byte = bytes[position] as number;
    if (byte < 0x30 || byte > 0x39) return false;
  }
  return true;
}
