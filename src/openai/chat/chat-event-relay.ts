import { Buffer } from "node:buffer";
import type { ByteWriter } from "../../wire/byte-writer.js";
import { eventEnd, eventStart } from "../../wire/event-frame.js";
import { createEventReader, type EventReader, type ServerSentEvent } from "../../wire/event-reader.js";
import { startsWith } from "../../wire/json-members.js";
import type { ChatStream } from "./chat-stream.js";
import { ChunkTemplate } from "./chunk-template.js";

/** After so many chunks in a row that do not resemble the one before, likeness is no longer looked for. */
const patience = 16;

export interface ChatEventRelayOptions {
  /** The largest event, in bytes. */
  maxEventBytes: number;
  /** Pass chunks that resemble each other on without parsing them. What is sent is the same. Default `true`. */
  useTemplates?: boolean;
}

/**
 * Reads a stream's bytes, however they were split, and gives what the client is to get for them. The common case, one
 * chunk of text after the other, is recognised by its bytes alone; everything else is parsed.
 */
export class ChatEventRelay {
  readonly #stream: ChatStream;
  readonly #maxEventBytes: number;
  /** Only there where it is needed: it takes up more memory than all the rest of an open stream's relay. */
  #reader: EventReader | undefined;
  #template: ChunkTemplate | undefined;
  #misses: number;
  #isFirst = true;
  /** The bytes so far ended with a whole event, so that the next one begins with the next byte. */
  #atBoundary = true;

  constructor(stream: ChatStream, { maxEventBytes, useTemplates = true }: ChatEventRelayOptions) {
    this.#stream = stream;
    this.#maxEventBytes = maxEventBytes;
    this.#misses = useTemplates ? 0 : patience;
  }

  /**
   * @param out - takes what the client gets, also when this throws.
   * @throws StreamFault | EventTooLargeError
   */
  read(piece: Uint8Array, out: ByteWriter): void {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength);
    let position = 0;
    while (position < bytes.length && !this.#stream.done) {
      const template = this.#atBoundary ? this.#template : undefined;
      const textBytes = template === undefined ? -1 : template.pass(bytes, position, out);
      if (template !== undefined && textBytes >= 0) {
        this.#stream.passed(textBytes);
        this.#misses = 0;
        position = template.end;
        continue;
      }
      const end = this.#misses < patience ? endOfEvent(bytes, position) : bytes.length;
      this.#parse(bytes.subarray(position, end), out);
      position = end;
    }
  }

  /** The last event, when the stream ended without the blank line behind it. */
  end(out: ByteWriter): void {
    for (const event of this.#reader?.end() ?? []) this.#push(event, out);
  }

  #parse(bytes: Buffer, out: ByteWriter): void {
    const wasAtBoundary = this.#atBoundary;
    this.#atBoundary = endsEvent(bytes);
    this.#reader ??= this.#createReader();
    const events = this.#reader.read(bytes);
    const start = out.length;
    for (const event of events) this.#push(event, out);
    if (this.#misses >= patience || !wasAtBoundary || !this.#atBoundary || events.length !== 1) return;
    this.#learn(bytes, out.since(start));
  }

  #createReader(): EventReader {
    const reader = createEventReader(this.#maxEventBytes);
    // A byte order mark means nothing but at the very beginning.
    if (this.#template !== undefined) reader.read(comment);
    return reader;
  }

  #push({ data, event }: ServerSentEvent, out: ByteWriter): void {
    const sent = this.#stream.push(data, event);
    if (sent !== undefined) out.write(sent);
  }

  /** @param received - one whole event. @param sent - what went to the client for it. */
  #learn(received: Buffer, sent: Uint8Array): void {
    this.#misses++;
    const isFirst = this.#isFirst;
    this.#isFirst = false;
    // Mostly it alone has a role, and no other chunk is like it.
    if (isFirst || sent.length === 0 || !startsWith(received, 0, eventStart)) return;
    const json = received.subarray(eventStart.length, received.length - eventEnd.length);
    if (json.includes(0x0a) || json.includes(0x0d)) return;
    const template = ChunkTemplate.learn(json, sent);
    if (template === undefined) return;
    this.#template = template;
    this.#reader = undefined;
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
