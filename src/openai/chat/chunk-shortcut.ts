import type { Buffer } from "node:buffer";
import type { ByteWriter } from "../../wire/byte-writer.js";
import { eventEnd, eventStart } from "../../wire/event-frame.js";
import { startsWith } from "../../wire/json-members.js";
import type { ChatProgress } from "./chat-progress.js";
import { ChunkTemplate } from "./chunk-template.js";

/** The shortcut is turned off after this many chunks in a row that do not match the one before. */
const patience = 16;

/**
 * A fast path for runs of chunks that differ only in their text: it passes them on without parsing. The client gets the
 * same bytes.
 */
export class ChunkShortcut {
  readonly #progress: ChatProgress;
  #template: ChunkTemplate | undefined;
  #misses = 0;
  #isFirst = true;

  constructor(progress: ChatProgress) {
    this.#progress = progress;
  }

  /** Whether the shortcut is turned off, since the stream's chunks differ too much. */
  get hasGivenUp(): boolean {
    return this.#misses >= patience;
  }

  /**
   * Passes on all matching events in a row that begin at `start`.
   * @returns the end of the last one; `start` when there was none.
   */
  pass(bytes: Buffer, start: number, out: ByteWriter): number {
    const template = this.#template;
    if (template === undefined) return start;
    const end = template.pass(bytes, start, out, this.#progress);
    if (end > start) this.#misses = 0;
    return end;
  }

  /**
   * Makes a template from an event that was parsed.
   * @param received - one whole event.
   * @param sent - the event that the client got for it.
   * @returns whether similar events can be passed on.
   */
  learn(received: Buffer, sent: Uint8Array): boolean {
    this.#misses++;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    // The first event usually is the only one with a role, so no other event matches it.
    if (isFirst || sent.length === 0 || !startsWith(received, 0, eventStart)) return false;
    const json = received.subarray(eventStart.length, received.length - eventEnd.length);
    if (json.includes(0x0a) || json.includes(0x0d)) return false;
    const template = ChunkTemplate.learn(json, sent);
    if (template === undefined) return false;
    this.#template = template;
    return true;
  }
}
