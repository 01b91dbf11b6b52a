import type { Buffer } from "node:buffer";
import { findBlockText } from "../../anthropic/messages/block-delta-source.js";
import type { MessageProgress } from "../../anthropic/messages/message-progress.js";
import type { EventPlace } from "../../wire/templates/event-template.js";
import type { ByteSpan } from "../../wire/templates/measure-string.js";
import type { TextSource } from "./text-shortcut.js";

/** Where an event of Messages has its text, if that is one of the answer. */
export function textOfBlock(json: Buffer): readonly EventPlace[] | undefined {
  const found = findBlockText(json);
  return found?.member === "text" ? [found.place] : undefined;
}

/** The events of Messages that bring text of the answer alone. */
export class MessagesTexts implements TextSource {
  readonly textIn = textOfBlock;
  readonly #progress: MessageProgress;

  constructor(progress: MessageProgress) {
    this.#progress = progress;
  }

  textCame(bytes: Buffer, text: Readonly<ByteSpan>, escapes: number): void {
    this.#progress.textCame(bytes, text, escapes);
  }
}
