import { Buffer } from "node:buffer";
import { asBuffer, unpooled } from "./bytes.js";
import {
  editMembers,
  type JsonMember,
  type MemberEdits,
  type MemberWriter,
  splice,
  writeEdited,
} from "./json-members.js";

/** A long text that was edited, in pieces: what stayed as it was is not copied. */
export class EditedBytes {
  readonly pieces: readonly Uint8Array[];
  #whole: Uint8Array | undefined;

  constructor(pieces: readonly Uint8Array[]) {
    this.pieces = pieces;
  }

  /** All of it in one piece, which is made when it is first needed. */
  get whole(): Uint8Array {
    this.#whole ??= Buffer.concat(this.pieces);
    return this.#whole;
  }
}

/** An edited text: a short one is a copy. */
export type Edited = Buffer | EditedBytes;

/** Copying takes longer than to write several pieces, from so many bytes on. */
const longText = 64 * 1024;

/** What `editMembers` makes. */
export function editText(bytes: Uint8Array, members: readonly JsonMember[], edits: Readonly<MemberEdits>): Edited {
  if (bytes.length < longText) return editMembers(bytes, members, edits);
  const pieces = new PieceWriter();
  writeEdited(pieces, asBuffer(bytes), members, edits);
  return new EditedBytes(pieces.finish());
}

/** What `splice` makes. */
export function spliceText(bytes: Uint8Array, start: number, end: number, text: string): Edited {
  if (bytes.length < longText) return splice(bytes, start, end, text);
  const source = asBuffer(bytes);
  return new EditedBytes([Buffer.concat([source.subarray(0, start), Buffer.from(text)]), source.subarray(end)]);
}

/** The text for what is kept for long, see `unpooled`. */
export function keptText(edited: Edited): Edited {
  return edited instanceof EditedBytes ? edited : unpooled(edited);
}

export function wholeText(edited: Edited | Uint8Array): Uint8Array {
  return edited instanceof EditedBytes ? edited.whole : edited;
}

export function piecesOfText(edited: Edited | Uint8Array): readonly Uint8Array[] | undefined {
  return edited instanceof EditedBytes ? edited.pieces : undefined;
}

/** Shorter runs are gathered. */
const longRun = 8 * 1024;

class PieceWriter implements MemberWriter {
  readonly #pieces: Uint8Array[] = [];
  #short: Uint8Array[] = [];

  write(bytes: Uint8Array): void {
    if (bytes.length < longRun) {
      this.#short.push(bytes);
      return;
    }
    this.#gather();
    this.#pieces.push(bytes);
  }

  writeFrom(bytes: Buffer, start: number, end: number): void {
    this.write(bytes.subarray(start, end));
  }

  writeText(text: string): void {
    this.write(Buffer.from(text));
  }

  finish(): readonly Uint8Array[] {
    this.#gather();
    return this.#pieces;
  }

  #gather(): void {
    if (this.#short.length === 0) return;
    this.#pieces.push(Buffer.concat(this.#short));
    this.#short = [];
  }
}
