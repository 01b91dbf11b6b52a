import { invalidValue } from "../../errors/gateway-error.js";
import { asBuffer, ByteWriter } from "../../wire/bytes.js";
import { type JsonMember, membersOf, nameAt, skipSpace, skipString, valueAt } from "../../wire/json-members.js";
import {
  isTextByType,
  isWord,
  kindOf,
  memberPath,
  type PromptLayout,
  type PromptMember,
  ruleWithin,
  type StringKind,
  type TextRule,
  thoughtsLayout,
  unknownMember,
} from "./prompt-layout.js";

/** A text of a prompt, as the JSON string from `start` to `end`, quotes included. */
export interface PromptSpan {
  readonly path: string;
  readonly role: string;
  readonly start: number;
  readonly end: number;
  /** It is the name of the member at its path. */
  readonly isName?: boolean | undefined;
  /** Where it stands in what the gateway has signed: then its place is one of that payload. */
  readonly sealed?: SealedPayload | undefined;
}

/** What the gateway has signed, in the string from `start` to `end`. */
interface SealedPayload {
  readonly start: number;
  readonly end: number;
  /** JSON. */
  readonly payload: Uint8Array;
}

/** Opens what the gateway has signed for the request's account; `undefined` for all else. */
type OpenPayload = (text: unknown) => Uint8Array | undefined;

/** Far more than conversations have, and few enough for the memory. */
const mostTexts = 65_536;

/** The longest path, in characters: paths take memory for each text below them. */
const longestPath = 1000;

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
  readonly kind: StringKind | "name";
}

/**
 * The texts of a prompt, in their order: all strings that a model may read. Goes through the bytes once, and builds no
 * values.
 * @param body - a request that was parsed before.
 * @param open - what it opens is looked through, too. Default: nothing is.
 * @throws GatewayError 400 for too many texts, or a path that is too long.
 */
export function findPromptTexts(body: Uint8Array, layout: PromptLayout, open?: OpenPayload): PromptSpan[] {
  const found: PromptSpan[] = [];
  for (const member of membersOf(body)) {
    const known = layout.members.get(member.name) ?? unknownMember;
    if (known.rule === "none") continue;
    const search = new PromptTextSearch(body, layout, known);
    search.run(member, mostTexts - found.length);
    for (const span of search.spans(open)) found.push(span);
    if (found.length > mostTexts) throw tooManyTexts();
  }
  return found;
}

/** The text of a span. */
export function promptText(body: Uint8Array, { start, end, sealed }: PromptSpan): string {
  return String(valueAt(sealed?.payload ?? body, { start, end }));
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
        if (frame.awaitsName) this.#name(frame, position, close);
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

  spans(open: OpenPayload | undefined): PromptSpan[] {
    return this.#candidates.flatMap((candidate): PromptSpan | PromptSpan[] => {
      const { path, start, end, frame, name, kind } = candidate;
      const role = this.#roleOf(frame);
      const payload = kind === "kept" ? open?.(valueAt(this.#body, { start, end })) : undefined;
      if (payload !== undefined) return sealedTexts(path, role, { start, end, payload });
      if (kind === "file" && !isTextByType(name, frame.type)) return [];
      if (kind === "kept" && isWord(this.#body, start + 1, end - 1)) return [];
      return { path, role, start, end, ...(kind === "name" ? { isName: true } : undefined) };
    });
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

  /** A name that is no word is a text, unless a text stands at its path. */
  #name(frame: Frame, start: number, end: number): void {
    const body = this.#body;
    frame.name = nameAt(body, start, end);
    if (isWord(body, start + 1, end - 1)) return;
    const value = skipSpace(body, skipSpace(body, end) + 1);
    if (body[value] !== 0x22) this.#add(frame, start, end, "name");
  }

  #string(frame: Frame, start: number, end: number): void {
    const { rule, name, isList } = frame;
    if (!isList && (name === "type" || name === "role") && end - start <= longestWord) {
      frame[name] = this.#textAt(start, end);
    }
    // The request's own member is a text whatever it is called.
    const kind = frame.parent === undefined && rule !== "settings" ? "text" : kindOf(rule, name);
    if (kind !== "none") this.#add(frame, start, end, kind);
  }

  #add(frame: Frame, start: number, end: number, kind: Candidate["kind"]): void {
    // Most labels are words: they take no memory.
    if (kind === "label" && isWord(this.#body, start + 1, end - 1)) return;
    const path = pathWithin(frame);
    if (this.#candidates.length >= this.#most) throw tooManyTexts();
    if (path.length > longestPath) throw pathTooLong();
    this.#candidates.push({ path, start, end, frame, name: frame.name, kind });
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

function sealedTexts(path: string, role: string, sealed: SealedPayload): PromptSpan[] {
  return findPromptTexts(sealed.payload, thoughtsLayout).map(({ path: inner, start, end, isName }) => ({
    path: inner.startsWith("[") ? path + inner : `${path}.${inner}`,
    role,
    start,
    end,
    isName,
    sealed,
  }));
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

/** A place of the request, and the JSON that stands there from now on. */
interface Edit {
  readonly start: number;
  readonly end: number;
  readonly json: string;
}

/** Signs a payload for the request's account. */
type SignPayload = (json: Uint8Array) => string;

/**
 * The same bytes with some texts replaced. A text that is replaced by itself stays as it is written.
 * @param texts - by path. Where several texts have one path, all of them are replaced.
 * @param sign - for texts of what the gateway has signed.
 * @throws TypeError for a path that no text has.
 */
export function replaceTexts(
  body: Uint8Array,
  spans: readonly PromptSpan[],
  texts: ReadonlyMap<string, string>,
  sign?: SignPayload,
): Uint8Array {
  const missing = new Set(texts.keys());
  const edits: Edit[] = [];
  const sealed = new Map<SealedPayload, Edit[]>();
  for (const span of spans) {
    const text = texts.get(span.path);
    if (text === undefined) continue;
    missing.delete(span.path);
    if (promptText(body, span) === text) continue;
    const edit = { start: span.start, end: span.end, json: JSON.stringify(text) };
    if (span.sealed === undefined) {
      edits.push(edit);
      continue;
    }
    const inner = sealed.get(span.sealed);
    if (inner === undefined) sealed.set(span.sealed, [edit]);
    else inner.push(edit);
  }
  for (const path of missing) throw new TypeError(`onRequest: the prompt has no text at "${path.slice(0, 200)}".`);
  for (const [{ start, end, payload }, inner] of sealed) {
    if (sign !== undefined) edits.push({ start, end, json: JSON.stringify(sign(edited(payload, inner))) });
  }
  return edited(body, sealed.size === 0 ? edits : edits.sort((one, other) => one.start - other.start));
}

/** @param edits - in their order. */
function edited(body: Uint8Array, edits: readonly Edit[]): Uint8Array {
  if (edits.length === 0) return body;
  const source = asBuffer(body);
  const out = new ByteWriter(body.length);
  let from = 0;
  for (const { start, end, json } of edits) {
    out.writeFrom(source, from, start);
    out.writeText(json);
    from = end;
  }
  out.writeFrom(source, from, source.length);
  return out.finish();
}
