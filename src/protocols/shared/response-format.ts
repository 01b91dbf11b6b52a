import { Buffer } from "node:buffer";
import { createEventReader, type ServerSentEvent } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";

/** A text of a model's answer. */
export interface ResponseText {
  /**
   * Where it stands in the answer's JSON, such as `choices[0].message.content`, `output[1].arguments` or
   * `content[0].input.query`. A stream's texts have the paths of the whole answer that the stream amounts to.
   */
  readonly path: string;
  readonly text: string;
}

/** The members of an answer, or of an event of its stream. */
export type ResponseJson = Readonly<Record<string, unknown>>;

/** An answer as its client reads it. */
export interface ReadResponse {
  /** All that the model has written: texts, thoughts, refusals, names and arguments of tools. */
  readonly texts: readonly ResponseText[];
  /** Why it ended, as the client's API names it; one for each choice. */
  readonly finishReasons: readonly string[];
  /** The whole answer, or what is known of it from a stream: a refused one keeps its id, model and usage. */
  readonly json: ResponseJson;
}

/** How the answers of one operation are read and refused. It knows the client's API only, whatever the upstream speaks. */
export interface ResponseFormat {
  readWhole(json: ResponseJson): ReadResponse;
  /** @param events - the JSON of each event, in their order. */
  readStream(events: readonly ResponseJson[]): ReadResponse;
  /** The texts that one event of a stream adds to those of the events before it. A text that grows keeps its path. */
  addedBy(event: ResponseJson): readonly ResponseText[];
  /**
   * The answer that its client gets in place of a refused one. Of that it has the id, the model and the usage, and no text.
   * @param words - for the client, in place of the answer's texts.
   */
  refused(json: ResponseJson, words: string): ResponseJson;
  /** A refused answer as a whole stream. */
  toStream(refused: ResponseJson): Uint8Array;
}

/** Reads a whole answer as its client gets it. @throws SyntaxError when it is no JSON. */
export function readAnswer(format: ResponseFormat, body: Uint8Array | string): ReadResponse {
  const json: unknown = JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString());
  return format.readWhole(isRecord(json) ? json : {});
}

/** Reads a stream as its client gets it, from its first byte to its last. @throws SyntaxError for an event that is no JSON. */
export function readStreamedResponse(format: ResponseFormat, stream: Uint8Array): ReadResponse {
  const reader = createEventReader(stream.length + 1);
  const events: ResponseJson[] = [];
  for (const { data } of [...reader.read(stream), ...reader.end()]) {
    if (data === "" || data === "[DONE]") continue;
    const json: unknown = JSON.parse(data);
    if (isRecord(json)) events.push(json);
  }
  return format.readStream(events);
}

/** The members of these names, as far as they are there. */
export function pickMembers(json: ResponseJson, names: readonly string[]): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const name of names) if (json[name] !== undefined && json[name] !== null) picked[name] = json[name];
  return picked;
}

/** An object that grows by deltas. It has no prototype, so that no name of a member means anything else. */
export type Merged = Record<string, unknown>;

export function emptyMerged(): Merged {
  return Object.create(null) as Merged;
}

/** Members that do not grow: the latest one counts. */
const fixed: ReadonlySet<string> = new Set(["type", "role", "id"]);

/** Adds a delta as clients do: texts grow, and elements of lists belong together by their `index`. */
export function mergeDelta(into: Merged, delta: Readonly<Record<string, unknown>>): void {
  for (const [name, value] of Object.entries(delta)) into[name] = grown(into[name], value, name);
}

function grown(before: unknown, value: unknown, name: string): unknown {
  if (value === null || value === undefined) return before ?? value;
  if (typeof value === "string" && typeof before === "string" && !fixed.has(name)) return before + value;
  if (Array.isArray(value)) return extended(Array.isArray(before) ? before : [], value);
  if (!isRecord(value)) return value;
  const merged = isRecord(before) ? before : emptyMerged();
  mergeDelta(merged, value);
  return merged;
}

function extended(list: unknown[], pieces: readonly unknown[]): unknown[] {
  for (const [at, piece] of pieces.entries()) {
    const before = isRecord(piece) ? continuedBy(list, piece, at === 0) : undefined;
    if (before === undefined || !isRecord(piece)) list.push(grown(undefined, piece, ""));
    else mergeDelta(before, piece);
  }
  return list;
}

/** Without indices, the first part of a delta goes on with the last one of its type. */
function continuedBy(list: readonly unknown[], piece: Merged, isFirst: boolean): Merged | undefined {
  const { index, type } = piece;
  if (Number.isInteger(index)) {
    return list.findLast((element): element is Merged => isRecord(element) && element["index"] === index);
  }
  const last = list.at(-1);
  return isFirst && isRecord(last) && last["index"] === undefined && last["type"] === type ? last : undefined;
}

/** Events that have names, as bytes. @param events - their data has no line breaks. */
export function frameNamedEvents(events: readonly ServerSentEvent[]): Uint8Array {
  return Buffer.from(events.map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`).join(""));
}
