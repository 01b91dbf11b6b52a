import type { Buffer } from "node:buffer";
import type { ByteWriter } from "../../wire/byte-writer.js";
import { eventEnd, eventStart } from "../../wire/event-frame.js";
import { startsWith } from "../../wire/json-members.js";
import type { ChatProgress } from "./chat-progress.js";
import { ChunkTemplate } from "./chunk-template.js";

/** After so many chunks in a row that do not resemble the one before, likeness is no longer looked for. */
const patience = 16;

/** Passes runs of chunks that differ in their text alone, without parsing them. What the client gets is the same. */
export class ChunkShortcut {
  readonly #progress: ChatProgress;
  #template: ChunkTemplate | undefined;
  #misses = 0;
  #isFirst = true;

  constructor(progress: ChatProgress) {
    this.#progress = progress;
  }

  /** The stream's chunks are too unlike each other. */
  get hasGivenUp(): boolean {
    return this.#misses >= patience;
  }

  /**
   * Passes on the events that begin at `start`, as many in a row as it knows.
   * @returns where the last one ended; `start` when there was none.
   */
  pass(bytes: Buffer, start: number, out: ByteWriter): number {
    const template = this.#template;
    if (template === undefined) return start;
    const textBytes = template.pass(bytes, start, out);
    if (textBytes < 0) return start;
    this.#progress.outputCame(textBytes);
    this.#misses = 0;
    return template.end;
  }

  /**
   * Learns from an event that was parsed.
   * @param received - one whole event.
   * @param sent - what went to the client for it.
   * @returns whether more events like it can be passed.
   */
  learn(received: Buffer, sent: Uint8Array): boolean {
    this.#misses++;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    // Mostly it alone has a role, and no other chunk is like it.
    if (isFirst || sent.length === 0 || !startsWith(received, 0, eventStart)) return false;
    const json = received.subarray(eventStart.length, received.length - eventEnd.length);
    if (json.includes(0x0a) || json.includes(0x0d)) return false;
    const template = ChunkTemplate.learn(json, sent);
    if (template === undefined) return false;
    this.#template = template;
    return true;
  }
}
