import type { Buffer } from "node:buffer";
import type { Media } from "../../model-api/media/message-media.js";
import { imageNotice } from "../../model-api/media/without-images.js";
import { isText, type MessageOutline, type Span } from "../../model-api/prompt/message-outline.js";
import { asBuffer } from "../../wire/as-buffer.js";
import { ByteWriter } from "../../wire/byte-writer.js";
import { nameAt, skipString } from "../../wire/json-members.js";

/** The changes to the messages of a request. */
export interface MessageRules {
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
