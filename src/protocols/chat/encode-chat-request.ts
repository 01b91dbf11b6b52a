import type { Buffer } from "node:buffer";
import { asBuffer, ByteWriter } from "../../wire/bytes.js";
import { type Edited, editText, keptText, spliceText, wholeText } from "../../wire/edited-bytes.js";
import {
  type JsonMember,
  type MemberEdits,
  memberOf,
  membersOf,
  nameAt,
  skipSpace,
  skipString,
} from "../../wire/json-members.js";
import { findTwins } from "../../wire/member-search.js";
import { outlineOf } from "../shared/context-fit.js";
import { cutOtherCaps } from "../shared/demand.js";
import type { Dialect } from "../shared/dialect.js";
import { type Media, messageMedia } from "../shared/message-media.js";
import { isText, type MessageOutline, type Span } from "../shared/message-outline.js";
import {
  firstImage,
  imageNotice,
  type MissingCapabilities,
  unsupportedByModel,
} from "../shared/missing-capabilities.js";
import { addNameEdits } from "../shared/parsed-request.js";
import { reasoningMembers, toolMembers } from "../shared/request-names.js";
import { type ChatRequest, chatCaps, withIncludeUsage } from "./chat-request.js";

/** The target of a request. */
interface Target {
  model: string;
  /** No cap above it is sent. */
  maxOutputTokens: number | undefined;
  /** The cap of a request that names none. */
  addedCap?: number | undefined;
  dialect?: Dialect | undefined;
  missing?: MissingCapabilities | undefined;
}

/**
 * The request for the upstream. It has the upstream's name for the model, output caps within the model's limit, and on
 * streams a request for usage. The dialect's edits are made, and what the model lacks is removed. Everything else stays
 * byte for byte.
 */
export function encodeChatRequest(request: ChatRequest, target: Target): Edited {
  const body = editedBody(request, target);
  // The copy is kept until the response has ended.
  return request.stream ? keptText(body) : body;
}

/** The same in one piece. */
export function toUpstreamBody(request: ChatRequest, target: Target): Uint8Array {
  return wholeText(encodeChatRequest(request, target));
}

function editedBody(request: ChatRequest, target: Target): Edited {
  const { body, members, stream, includeUsage, namesOtherCap } = request;
  const { model, maxOutputTokens = Number.POSITIVE_INFINITY, addedCap, dialect, missing } = target;
  const cutsTokens = (request.maxTokens ?? 0) > maxOutputTokens;
  const cutsCompletionTokens = (request.maxCompletionTokens ?? 0) > maxOutputTokens;
  const keepsOptions = stream ? includeUsage : memberOf(members, "stream_options") === undefined;
  const isPlain = keepsOptions && !cutsTokens && !cutsCompletionTokens && addedCap === undefined && !namesOtherCap;
  if (isPlain && dialect === undefined && missing === undefined) {
    const { start, end } = memberOf(members, "model") as JsonMember;
    return spliceText(body, start, end, JSON.stringify(model));
  }
  const edits: MemberEdits = new Map();
  edits.set("model", JSON.stringify(model));
  if (cutsTokens) edits.set("max_tokens", String(maxOutputTokens));
  if (cutsCompletionTokens) edits.set("max_completion_tokens", String(maxOutputTokens));
  if (addedCap !== undefined) edits.set(dialect?.capName ?? "max_completion_tokens", String(addedCap));
  if (namesOtherCap) cutOtherCaps(request, chatCaps, maxOutputTokens, edits);
  if (!keepsOptions) edits.set("stream_options", stream ? withIncludeUsage(request) : null);
  if (dialect !== undefined) addDialectEdits(request, dialect, edits);
  if (missing !== undefined) addMissingEdits(missing, edits);
  const rules = messageRules(dialect, missing?.action === "drop" && missing.vision);
  if (rules !== undefined) addMessageEdits(request, rules, edits);
  return editText(body, members, edits);
}

/** Adds the edits that a server's dialect requires. */
function addDialectEdits(request: ChatRequest, dialect: Dialect, edits: MemberEdits): void {
  const { capName } = dialect;
  if (capName !== undefined) renameCap(request, capName, edits);
  addNameEdits(request, dialect, edits);
}

/** The dialect's rules for messages; `undefined` when it has none. */
function messageRules(dialect: Dialect | undefined, withoutImages: boolean): MessageRules | undefined {
  const { developerRole, laterSystemRole, droppedFromMessages: dropped = [] } = dialect ?? {};
  const keepsRoles = developerRole === undefined && laterSystemRole === undefined;
  if (keepsRoles && dropped.length === 0 && !withoutImages) return undefined;
  return { developerRole, laterSystemRole, dropped, withoutImages };
}

/** Adds the edits that the rules require in the messages. */
function addMessageEdits(request: ChatRequest, rules: MessageRules, edits: MemberEdits): void {
  const images = rules.withoutImages ? messageMedia(request).filter(({ hasImage }) => hasImage) : [];
  const edited = editMessages(request.body, { ...outlineOf(request), images }, rules);
  if (edited !== undefined) edits.set("messages", edited);
}

function renameCap(request: ChatRequest, capName: (typeof chatCaps)[number], edits: MemberEdits): void {
  const other = capName === "max_tokens" ? "max_completion_tokens" : "max_tokens";
  if (!request.members.some(({ name }) => name === other)) return;
  const [cap, otherCap] = [capOf(request, capName, edits), capOf(request, other, edits)];
  edits.set(other, null);
  if (otherCap !== undefined && (cap === undefined || otherCap < cap)) edits.set(capName, String(otherCap));
}

/** The cap that goes to the upstream, within the model's limit. */
function capOf(request: ChatRequest, name: (typeof chatCaps)[number], edits: MemberEdits): number | undefined {
  const edit = edits.get(name);
  if (typeof edit === "string") return Number(edit);
  return name === "max_tokens" ? request.maxTokens : request.maxCompletionTokens;
}

/** The changes to the messages of a request. */
interface MessageRules {
  /** The new name of the role `developer`. */
  developerRole?: string | undefined;
  /** What the roles `system` and `developer` become where they are not the first message's. */
  laterSystemRole?: string | undefined;
  /** Members to remove. */
  dropped?: readonly string[] | undefined;
  /** Whether images are replaced by a text that says so. An image beside the content is removed. */
  withoutImages: boolean;
}

interface MessagesToEdit extends MessageOutline {
  /** The images to remove, in their order. */
  readonly images: readonly Media[];
}

/**
 * Applies the rules to the messages. Everything else stays byte for byte.
 * @returns `undefined` when there is nothing to change.
 */
export function editMessages(body: Uint8Array, outline: MessagesToEdit, rules: MessageRules): Uint8Array | undefined {
  const edit = new MessageEdit(asBuffer(body), outline, rules);
  let first = 0;
  for (const end of outline.messages) {
    edit.message(first, end);
    first = end;
  }
  return edit.finish();
}

const notice = JSON.stringify({ type: "text", text: imageNotice });

/** A member is a number here: the index of its three offsets in the outline. */
class MessageEdit {
  readonly #body: Buffer;
  readonly #outline: MessagesToEdit;
  readonly #rules: MessageRules;
  #out: ByteWriter | undefined;
  /** Everything before this offset was written. */
  #from: number;
  /** The index of the next image. */
  #image = 0;

  constructor(body: Buffer, outline: MessagesToEdit, rules: MessageRules) {
    this.#body = body;
    this.#outline = outline;
    this.#rules = rules;
    this.#from = outline.start;
  }

  message(first: number, end: number): void {
    let isFirst = true;
    for (let member = first; member < end; member += 3) {
      const name = this.#nameOf(member);
      const isDropped = this.#rules.dropped?.includes(name) === true;
      if (isDropped || this.#isImages(member)) {
        this.#skipImages(this.#valueOf(member));
        this.#leaveOut(member, isFirst, end);
        continue;
      }
      isFirst = false;
      const value = this.#valueOf(member);
      if (name === "role") {
        const role = this.#newRole(value, first === 0);
        if (role !== undefined) this.#replace(value.start, value.end, JSON.stringify(role));
      } else if (name === "content") {
        this.#leaveOutImages(value);
      }
    }
  }

  finish(): Uint8Array | undefined {
    this.#out?.writeFrom(this.#body, this.#from, this.#outline.end);
    return this.#out?.finish();
  }

  /** `undefined`: it keeps its own. */
  #newRole(role: Span, isFirstMessage: boolean): string | undefined {
    const { developerRole, laterSystemRole } = this.#rules;
    const isDeveloper = isText(this.#body, role, "developer");
    const isLater = laterSystemRole !== undefined && !isFirstMessage;
    if (isLater && (isDeveloper || isText(this.#body, role, "system"))) return laterSystemRole;
    return isDeveloper ? developerRole : undefined;
  }

  /** Removes the member and one comma: the one before it, or the one after it while nothing before it stays. */
  #leaveOut(member: number, isFirst: boolean, end: number): void {
    const { members } = this.#outline;
    const value = this.#valueOf(member);
    if (!isFirst) this.#replace(members[member - 1] as number, value.end, "");
    else this.#replace(members[member] as number, member + 3 < end ? (members[member + 3] as number) : value.end, "");
  }

  /** Whether the member's value is images. */
  #isImages(member: number): boolean {
    const image = this.#outline.images[this.#image];
    return image !== undefined && image.part === undefined && image.start === this.#outline.members[member + 1];
  }

  /** Skips the images inside a value that is removed. */
  #skipImages({ end }: Span): void {
    const { images } = this.#outline;
    while ((images[this.#image]?.start ?? end) < end) this.#image++;
  }

  #leaveOutImages(content: Span): void {
    const { images } = this.#outline;
    for (; this.#image < images.length; this.#image++) {
      const { start, end } = images[this.#image] as Span;
      if (start >= content.end) return;
      if (start >= content.start) this.#replace(start, end, notice);
    }
  }

  #replace(start: number, end: number, text: string): void {
    this.#out ??= new ByteWriter(this.#outline.end - this.#outline.start);
    this.#out.writeFrom(this.#body, this.#from, start);
    this.#out.writeText(text);
    this.#from = end;
  }

  #nameOf(member: number): string {
    const start = this.#outline.members[member] as number;
    return nameAt(this.#body, start, skipString(this.#body, start));
  }

  #valueOf(member: number): Span {
    const { members } = this.#outline;
    return { start: members[member + 1] as number, end: members[member + 2] as number };
  }
}

/** @throws GatewayError 400 when the request asks for something that the model cannot do, and `action` is `refuse`. */
export function refuseMissing(request: ChatRequest, model: string, missing: MissingCapabilities): void {
  if (missing.action !== "refuse") return;
  if (missing.tools) {
    for (const name of ["tools", "functions"])
      if (asksFor(request, name)) throw unsupportedByModel(model, name, "tools");
  }
  if (missing.reasoning) {
    for (const name of reasoningMembers) if (asksFor(request, name)) throw unsupportedByModel(model, name, "reasoning");
  }
  if (!missing.vision) return;
  const image = firstImage(request);
  if (image !== undefined) throw unsupportedByModel(model, image, "images");
}

export function asksToReason(request: ChatRequest): boolean {
  return reasoningMembers.some((name) => asksFor(request, name));
}

/** Adds edits that remove what the model cannot do. Images are removed by `editMessages`. */
function addMissingEdits({ tools, reasoning }: MissingCapabilities, edits: MemberEdits): void {
  if (tools) for (const name of toolMembers) edits.set(name, null);
  if (reasoning) for (const name of reasoningMembers) edits.set(name, null);
}

function asksFor({ body, members }: ChatRequest, name: string): boolean {
  const member = memberOf(members, name);
  if (member === undefined || body[member.start] === 0x6e) return false;
  if (body[member.start] === 0x5b) return body[skipSpace(body, member.start + 1)] !== 0x5d;
  return !isText(body, member, "none") && !(body[member.start] === 0x7b && asksForNone(body, member));
}

/** OpenRouter's `{"effort":"none"}` and `{"enabled":false}`. With a repeated member, the meaning is ambiguous. */
function asksForNone(body: Uint8Array, { start }: JsonMember): boolean {
  const members = membersOf(body, start, fewMembers);
  if (members.length > fewMembers || findTwins(members.map(({ name }) => name)) !== undefined) return false;
  const effort = memberOf(members, "effort");
  const enabled = memberOf(members, "enabled");
  return (
    (effort !== undefined && isText(body, effort, "none")) || (enabled !== undefined && body[enabled.start] === 0x66)
  );
}

/** More than any server has. */
const fewMembers = 16;
