import { invalidValue } from "../../errors/gateway-error.js";
import { type JsonMember, membersOf, nameAt, skipString, valueAt } from "../../wire/json-members.js";
import { memberPath } from "./member-path.js";
import type { PromptLayout, PromptMember, TextRule } from "./prompt-layout.js";
import { isFile, isPromptText, ruleWithin } from "./text-rules.js";

/** A text of a prompt, as the JSON string from `start` to `end`, quotes included. */
export interface PromptSpan {
  readonly path: string;
  readonly role: string;
  readonly start: number;
  readonly end: number;
}

/** Far more than conversations have, and few enough for the memory. */
export const mostTexts = 65_536;

/** The longest path, in characters: paths take memory for each text below them. */
export const longestPath = 1000;

/** No type and no role is longer, in bytes. */
const longestWord = 256;

/** An object or a list that is being read. */
interface Frame {
  readonly parent: Frame | undefined;
  readonly path: string;
  readonly rule: TextRule;
  readonly isList: boolean;
  /** Whether it is a message, or an item of a conversation. */
  readonly isTurn: boolean;
  /** The current member's name; in a list, the one whose list it is. */
  name: string;
  /** The current element of a list. */
  index: number;
  awaitsName: boolean;
  /** The object's own members of these names, known at its end. */
  role: string | undefined;
  type: string | undefined;
}

interface Candidate {
  readonly path: string;
  readonly start: number;
  readonly end: number;
  readonly frame: Frame;
  /** The name by which it is a text. */
  readonly name: string;
}

/**
 * The texts of a prompt, in their order. Goes through the bytes once, and builds no values.
 * @param body - a request that was parsed before.
 * @throws GatewayError 400 for too many texts, or a path that is too long.
 */
export function findPromptTexts(body: Uint8Array, layout: PromptLayout): PromptSpan[] {
  const found: PromptSpan[] = [];
  for (const member of membersOf(body)) {
    const known = layout.members.get(member.name);
    if (known === undefined) continue;
    const search = new PromptTextSearch(body, layout, known);
    search.run(member, mostTexts - found.length);
    for (const span of search.spans()) found.push(span);
  }
  return found;
}

/** The texts of one member of a request. */
class PromptTextSearch {
  readonly #body: Uint8Array;
  readonly #layout: PromptLayout;
  readonly #member: PromptMember;
  readonly #candidates: Candidate[] = [];
  #most = 0;

  constructor(body: Uint8Array, layout: PromptLayout, member: PromptMember) {
    this.#body = body;
    this.#layout = layout;
    this.#member = member;
  }

  run({ name, start, end }: JsonMember, most: number): void {
    const body = this.#body;
    this.#most = most;
    // Stands for the request, of which only this member is read.
    const root = this.#frame(undefined, "", false, this.#member.rule);
    root.name = name;
    let frame = root;
    let position = start;
    while (position < end) {
      const byte = body[position];
      if (byte === 0x22) {
        const close = skipString(body, position);
        if (frame.awaitsName) frame.name = nameAt(body, position, close);
        else this.#string(frame, position, close);
        frame.awaitsName = false;
        position = close;
        continue;
      }
      if (byte === 0x7b || byte === 0x5b) frame = this.#open(frame, byte === 0x5b, root);
      else if (byte === 0x7d || byte === 0x5d) frame = frame.parent ?? root;
      else if (byte === 0x2c && frame.isList) frame.index++;
      else if (byte === 0x2c) frame.awaitsName = true;
      position++;
    }
  }

  spans(): PromptSpan[] {
    return this.#candidates
      .filter(({ frame, name }) => !isFile(frame.rule, name, frame.type))
      .map(({ path, start, end, frame }) => ({ path, role: this.#roleOf(frame), start, end }));
  }

  #open(within: Frame, isList: boolean, root: Frame): Frame {
    const { rule, name } = within;
    const ruleOfNew = within === root ? rule : ruleWithin(rule, name);
    const frame = this.#frame(within, pathWithin(within), isList, ruleOfNew);
    if (isList && within !== root) frame.name = name;
    return frame;
  }

  #frame(parent: Frame | undefined, path: string, isList: boolean, rule: TextRule): Frame {
    const isTurn =
      this.#member.isConversation === true && !isList && parent?.isList === true && parent.parent?.parent === undefined;
    const awaitsName = !isList && parent !== undefined;
    return { parent, path, rule, isList, isTurn, name: "", index: 0, awaitsName, role: undefined, type: undefined };
  }

  #string(frame: Frame, start: number, end: number): void {
    const { rule, name, isList } = frame;
    if (!isList && (name === "type" || name === "role") && end - start <= longestWord) {
      frame[name] = this.#textAt(start, end);
    }
    // The request's own member is a text whatever it is called.
    if (frame.parent !== undefined && !isPromptText(rule, name)) return;
    const path = pathWithin(frame);
    if (this.#candidates.length >= this.#most) throw tooManyTexts();
    if (path.length > longestPath) throw pathTooLong();
    this.#candidates.push({ path, start, end, frame, name });
  }

  #textAt(start: number, end: number): string {
    return String(valueAt(this.#body, { start, end }));
  }

  #roleOf(frame: Frame): string {
    const { roleOf, isToolResult } = this.#layout;
    for (let at: Frame | undefined = frame; at !== undefined; at = at.parent) {
      if (at.isTurn) return roleOf(at.role, at.type);
      if (at.rule === "prompt" && at.type !== undefined && isToolResult(at.type)) return "tool";
    }
    return this.#member.role;
  }
}

function pathWithin({ path, isList, index, name }: Frame): string {
  return isList ? `${path}[${index}]` : memberPath(path, name);
}

function tooManyTexts() {
  return invalidValue(null, `The prompt must consist of at most ${mostTexts} texts.`);
}

function pathTooLong() {
  return invalidValue(null, "The prompt holds a text that lies too deep, or under names that are too long.");
}
