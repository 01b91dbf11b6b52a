import { Buffer } from "node:buffer";
import type { EventShortcut, StreamCodec } from "../../protocols/shared/stream-codec.js";
import type { KeyMask } from "../../redaction/key-mask.js";
import { asBuffer, type ByteWriter } from "../../wire/bytes.js";
import { createEventReader, type EventReader, type ServerSentEvent } from "../../wire/event-reader.js";
import { eventEnd, readPlainEvent } from "../../wire/plain-event.js";
import type { Outgoing } from "../../wire/slices.js";
import { requireFewMembers } from "./few-members.js";

export interface EventRelayOptions {
  /** The largest event, in bytes. */
  readonly maxEventBytes: number;
  /** Whether to use the codec's fast path, if it has one. The bytes sent are the same. Default: `true`. */
  readonly useShortcut?: boolean;
  /** For what the server says beside the model's words. */
  readonly mask?: KeyMask | undefined;
}

/** Reads the events of a stream, however the bytes are split, and writes the client's events. */
export class EventRelay {
  readonly #codec: StreamCodec;
  readonly #maxEventBytes: number;
  readonly #shortcut: EventShortcut | undefined;
  readonly #mask: KeyMask | undefined;
  /** Created only for what is no plain event: it uses more memory than the rest of an open stream's relay. */
  #reader: EventReader | undefined;
  #hasRead = false;
  /** Whether the bytes so far ended with a whole event. */
  #atBoundary = true;
  /** What goes out before what is in the writer. */
  #early: Outgoing[] | undefined;

  constructor(codec: StreamCodec, { maxEventBytes, useShortcut = true, mask }: EventRelayOptions) {
    this.#mask = mask;
    this.#codec = codec;
    this.#maxEventBytes = maxEventBytes;
    this.#shortcut = useShortcut ? codec.shortcut : undefined;
  }

  /**
   * @param out - receives the bytes for the client, also when this throws.
   * @throws StreamFault | TooLargeError | GatewayError
   */
  read(piece: Uint8Array, out: ByteWriter): void {
    const bytes = asBuffer(piece);
    const { progress } = this.#codec;
    // A shortcut passes on what nobody has read.
    const shortcut = this.#mask?.mayBeIn(bytes) === true ? undefined : this.#shortcut;
    let position = 0;
    while (position < bytes.length && !progress.isDone) {
      // A blank line between events means nothing, however many there are.
      if (this.#atBoundary && bytes[position] === 0x0a) {
        position++;
        continue;
      }
      const passed = this.#atBoundary ? shortcut?.pass(bytes, position, out) : undefined;
      if (passed !== undefined && passed > position) {
        position = passed;
        continue;
      }
      const end = endOfEvent(bytes, position);
      this.#parse(bytes.subarray(position, end), out);
      position = end;
    }
  }

  /** Reads the last event of a stream that ended without the blank line after it. */
  end(out: ByteWriter): void {
    for (const event of this.#reader?.end() ?? []) this.#pass(event, out);
  }

  /**
   * What goes out before what the writer has, since something of it is written later; `undefined`: nothing is, as nearly
   * always.
   */
  takeEarly(): Outgoing[] | undefined {
    const early = this.#early;
    this.#early = undefined;
    return early;
  }

  #parse(bytes: Buffer, out: ByteWriter): void {
    const event = this.#atBoundary ? readPlainEvent(bytes) : undefined;
    if (event === undefined) {
      this.#atBoundary = endsEvent(bytes);
      this.#reader ??= this.#createReader();
      for (const each of this.#reader.read(bytes)) this.#pass(each, out);
      return;
    }
    this.#hasRead = true;
    this.#reader = undefined;
    const start = out.length;
    this.#pass(event, out);
    const shortcut = this.#shortcut;
    if (this.#early === undefined && shortcut?.hasGivenUp === false) shortcut.learn(bytes, out.since(start));
  }

  #createReader(): EventReader {
    const reader = createEventReader(this.#maxEventBytes);
    // A byte order mark has a meaning at the very beginning only.
    if (this.#hasRead) reader.read(comment);
    this.#hasRead = true;
    return reader;
  }

  #pass(event: ServerSentEvent, out: ByteWriter): void {
    requireFewMembers(event.data);
    if (this.#mask !== undefined) {
      event.data = this.#mask.hideText(event.data);
      if (event.event !== undefined) event.event = this.#mask.hideWord(event.event);
    }
    const sent = this.#codec.event(event);
    if (sent === undefined) return;
    if (sent instanceof Uint8Array) {
      out.write(sent);
      return;
    }
    this.#early ??= [];
    if (out.length > 0) this.#early.push(out.take());
    this.#early.push(sent);
  }
}

const comment = Buffer.from(":\n");

/** The offset after the first blank line, or the end of the bytes. */
function endOfEvent(bytes: Buffer, from: number): number {
  const found = bytes.indexOf(eventEnd, from);
  return found < 0 ? bytes.length : found + eventEnd.length;
}

function endsEvent(bytes: Buffer): boolean {
  return bytes.length >= 2 && bytes[bytes.length - 1] === 0x0a && bytes[bytes.length - 2] === 0x0a;
}
