import { Buffer } from "node:buffer";
import type { GatewayError } from "../../errors/gateway-error.js";
import { ByteWriter } from "../../wire/bytes.js";
import { writeSteps } from "../../wire/json-steps.js";
import { lateBytes, type Outgoing, SliceCount, sliceBytes } from "../../wire/slices.js";

/** An event of a streamed response (OpenAI reference, "Streaming events"). */
export interface ResponseEvent {
  readonly type: string;
  readonly sequence_number: number;
  readonly [name: string]: unknown;
}

/** Where all texts are shorter together, none is worth being remembered; in UTF-16 code units. */
const shortText = 1024;

/** The events as server-sent events, each with its name. */
export function frameEvents(events: readonly ResponseEvent[]): Buffer {
  let text = "";
  for (const event of events) text += `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`;
  return Buffer.from(text);
}

/**
 * The same, of which long ones are written when they are asked for.
 * @param size - how long the texts of events are that bring no delta, about.
 * @param texts - those that the stream's events repeat.
 */
export function frameLate(events: readonly ResponseEvent[], size: number, texts: RepeatedTexts): Outgoing {
  if (!events.some((event) => isLong(event, size))) {
    const repeats = size >= shortText && events.some(({ delta }) => typeof delta !== "string");
    return repeats ? frameRepeating(events, size, texts) : frameEvents(events);
  }
  return lateBytes(function* (out) {
    const count = new SliceCount();
    for (const event of events) {
      out.writeText(`event: ${event.type}\ndata: `);
      yield* writeSteps(out, event, count);
      out.writeText("\n\n");
    }
  });
}

function frameRepeating(events: readonly ResponseEvent[], size: number, texts: RepeatedTexts): Buffer {
  const out = new ByteWriter(events.reduce((sum, event) => sum + expectedBytes(event, size), 0));
  for (const event of events) {
    const head = `event: ${event.type}\ndata: `;
    if (typeof event["delta"] === "string") out.writeText(`${head}${JSON.stringify(event)}\n\n`);
    else texts.write(out, event, head, "\n\n");
  }
  return out.finish();
}

/** An event of a response repeats what the request said. */
const eventBytes = 512;
const responseBytes = 4096;

function expectedBytes({ delta, response }: ResponseEvent, size: number): number {
  if (typeof delta === "string") return eventBytes + 3 * delta.length;
  return size + (response === undefined ? eventBytes : responseBytes);
}

function isLong({ delta }: ResponseEvent, size: number): boolean {
  return (typeof delta === "string" ? delta.length : size) > sliceBytes;
}

/**
 * Keeps a silent stream open. A comment does not work: Codex waits for events only.
 * @param sequenceNumber - its number among the events.
 */
export function keepAliveEvent(sequenceNumber: number): ResponseEvent {
  return { type: "keepalive", sequence_number: sequenceNumber };
}

/** The `error` of a failed response. */
interface ResponseError {
  readonly code: string;
  readonly message: string;
}

/** The error in the Responses API's format. Some clients decide by its code whether to retry. */
function toResponseError({ code, type, status, message }: GatewayError): ResponseError {
  if (code === "context_length_exceeded") return { code, message };
  if (type === "insufficient_quota") return { code: "insufficient_quota", message };
  if (status === 429) return { code: "rate_limit_exceeded", message };
  return { code: status >= 400 && status < 500 ? "invalid_prompt" : "server_error", message };
}

/**
 * The end of a failed stream. It needs two events: each client ignores one of them, or reads it as a success. The first
 * event contains the error twice for the same reason.
 *
 * @param response - the response so far.
 * @param sequenceNumber - the next one.
 */
export function failureEvents(
  error: GatewayError,
  response: Readonly<Record<string, unknown>>,
  sequenceNumber: number,
): ResponseEvent[] {
  const { code, message } = toResponseError(error);
  const { type, param } = error;
  return [
    {
      type: "error",
      sequence_number: sequenceNumber,
      code,
      message,
      param,
      error: { type, code, message, param },
    },
    {
      type: "response.failed",
      sequence_number: sequenceNumber + 1,
      // One that failed is not kept.
      response: { ...response, status: "failed", error: { code, message }, store: false },
    },
  ];
}

/** Shorter texts are written anew each time, in UTF-16 code units. */
const longText = 512;

/** Members of events in which the texts of an answer stand. */
const holders: ReadonlySet<string> = new Set(["response", "output", "item", "content", "summary", "part"]);

/** Writes the events at the end of a response, each of which repeats texts: a long one is turned into JSON once. */
export class RepeatedTexts {
  readonly #written = new Map<string, Buffer>();

  /** Writes what `JSON.stringify` gives. @param before - goes out before it, and `behind` behind it. */
  write(out: ByteWriter, event: object, before: string, behind: string): void {
    out.writeText(this.#writeValue(out, event, before) + behind);
  }

  /** @param before - what is still to be written. @returns the same behind the value. */
  #writeValue(out: ByteWriter, value: unknown, before: string): string {
    if (typeof value === "string" && value.length >= longText) {
      out.writeText(before);
      out.write(this.#jsonOf(value));
      return "";
    }
    if (typeof value !== "object" || value === null) return before + JSON.stringify(value);
    return Array.isArray(value)
      ? this.#writeList(out, value, before)
      : this.#writeObject(out, value as Record<string, unknown>, before);
  }

  #writeList(out: ByteWriter, list: readonly unknown[], before: string): string {
    let text = `${before}[`;
    for (let index = 0; index < list.length; index++) {
      text = this.#writeValue(out, list[index], index === 0 ? text : `${text},`);
    }
    return `${text}]`;
  }

  #writeObject(out: ByteWriter, object: Record<string, unknown>, before: string): string {
    let text = before;
    let next = "{";
    for (const name of Object.keys(object)) {
      const value = object[name];
      if (value === undefined) continue;
      text += `${next}${JSON.stringify(name)}:`;
      next = ",";
      const isText = typeof value === "string" || holders.has(name);
      text = isText ? this.#writeValue(out, value, text) : text + JSON.stringify(value);
    }
    return next === "{" ? `${text}{}` : `${text}}`;
  }

  #jsonOf(text: string): Buffer {
    let json = this.#written.get(text);
    if (json === undefined) {
      json = Buffer.from(JSON.stringify(text));
      this.#written.set(text, json);
    }
    return json;
  }
}
