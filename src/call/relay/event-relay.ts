import { Buffer } from "node:buffer";
import type { EventShortcut, StreamCodec } from "../../operations/stream-codec.js";
import type { ByteWriter } from "../../wire/byte-writer.js";
import { eventEnd } from "../../wire/event-frame.js";
import { createEventReader, type EventReader, type ServerSentEvent } from "../../wire/event-reader.js";

export interface EventRelayOptions {
  /** The largest event, in bytes. */
  readonly maxEventBytes: number;
  /** Use the codec's shortcut, if it has one. What is sent is the same. Default `true`. */
  readonly useShortcut?: boolean;
}

/** Reads a stream's bytes, however they were split, and writes what the client gets for them. */
export class EventRelay {
  readonly #codec: StreamCodec;
  readonly #maxEventBytes: number;
  readonly #shortcut: EventShortcut | undefined;
  /** Only there where it is needed: it takes up more memory than all the rest of an open stream's relay. */
  #reader: EventReader | undefined;
  #hasRead = false;
  /** The bytes so far ended with a whole event, so that the next one begins with the next byte. */
  #atBoundary = true;

  constructor(codec: StreamCodec, { maxEventBytes, useShortcut = true }: EventRelayOptions) {
    this.#codec = codec;
    this.#maxEventBytes = maxEventBytes;
    this.#shortcut = useShortcut ? codec.shortcut : undefined;
  }

  /**
   * @param out - takes what the client gets, also when this throws.
   * @throws StreamFault | EventTooLargeError | GatewayError
   */
  read(piece: Uint8Array, out: ByteWriter): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    const { progress } = this.#codec;
    const shortcut = this.#shortcut;
    let position = 0;
    while (position < bytes.length && !progress.isDone) {
      const passed = this.#atBoundary ? shortcut?.pass(bytes, position, out) : undefined;
      if (passed !== undefined && passed > position) {
        position = passed;
        continue;
      }
      const isLearning = shortcut !== undefined && !shortcut.hasGivenUp;
      const end = isLearning ? endOfEvent(bytes, position) : bytes.length;
      this.#parse(bytes.subarray(position, end), out);
      position = end;
    }
  }

  /** The last event, when the stream ended without the blank line behind it. */
  end(out: ByteWriter): void {
    for (const event of this.#reader?.end() ?? []) this.#pass(event, out);
  }

  #parse(bytes: Buffer, out: ByteWriter): void {
    const wasAtBoundary = this.#atBoundary;
    this.#atBoundary = endsEvent(bytes);
    this.#reader ??= this.#createReader();
    const events = this.#reader.read(bytes);
    const start = out.length;
    for (const event of events) this.#pass(event, out);
    const shortcut = this.#shortcut;
    if (shortcut === undefined || shortcut.hasGivenUp) return;
    if (!wasAtBoundary || !this.#atBoundary || events.length !== 1) return;
    if (shortcut.learn(bytes, out.since(start))) this.#reader = undefined;
  }

  #createReader(): EventReader {
    const reader = createEventReader(this.#maxEventBytes);
    // A byte order mark means nothing but at the very beginning.
    if (this.#hasRead) reader.read(comment);
    this.#hasRead = true;
    return reader;
  }

  #pass(event: ServerSentEvent, out: ByteWriter): void {
    const sent = this.#codec.event(event);
    if (sent !== undefined) out.write(sent);
  }
}

const comment = Buffer.from(":\n");

/** The offset behind the first blank line, or the end of the bytes. */
function endOfEvent(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(eventEnd, from);
  return found < 0 ? bytes.length : found + eventEnd.length;
}

function endsEvent(bytes: Buffer): boolean {
  return bytes.length >= 2 && bytes[bytes.length - 1] === 0x0a && bytes[bytes.length - 2] === 0x0a;
}
