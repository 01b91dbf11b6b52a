import type { Buffer } from "node:buffer";
import type { ByteWriter } from "../../../wire/byte-writer.js";
import { TemplateShortcut } from "../../../wire/templates/template-shortcut.js";
import type { DeltaSource } from "./delta-source.js";
import { type LongEvent, longEventAt } from "./long-event.js";

/** Reads a long event without its long texts. @returns `false` where they matter: then nothing was read or written. */
export type ReadLong = (event: LongEvent, out: ByteWriter) => boolean;

/**
 * A fast path for the events of a response that bring pieces of text, which are alike, and for those at its end, each of which
 * repeats the whole text. The client gets the same bytes without it.
 */
export class ResponseShortcut {
  readonly #deltas: TemplateShortcut;
  readonly #readLong: ReadLong;

  constructor(deltas: DeltaSource, readLong: ReadLong) {
    this.#deltas = new TemplateShortcut(deltas);
    this.#readLong = readLong;
  }

  get hasGivenUp(): boolean {
    return this.#deltas.hasGivenUp;
  }

  /** @returns the end of the last event that was passed on; `start` when there was none. */
  pass(bytes: Buffer, start: number, out: ByteWriter): number {
    const end = this.#deltas.pass(bytes, start, out);
    if (end > start) return end;
    const long = longEventAt(bytes, start);
    return long !== undefined && this.#readLong(long, out) ? start + long.bytes.length : start;
  }

  /** See {@link TemplateShortcut.learn}. */
  learn(received: Buffer, sent: Buffer): void {
    this.#deltas.learn(received, sent);
  }
}
