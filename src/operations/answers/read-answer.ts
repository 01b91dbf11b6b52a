import { Buffer } from "node:buffer";
import { createEventReader } from "../../wire/event-reader.js";
import { isRecord } from "../../wire/is-record.js";
import type { AnswerFormat, AnswerJson, ReadAnswer } from "./answer-format.js";

/** Reads a whole answer as its client gets it. @throws SyntaxError when it is no JSON. */
export function readAnswer(format: AnswerFormat, body: Uint8Array | string): ReadAnswer {
  const json: unknown = JSON.parse(typeof body === "string" ? body : Buffer.from(body).toString());
  return format.readWhole(isRecord(json) ? json : {});
}

/** Reads a stream as its client gets it, from its first byte to its last. @throws SyntaxError for an event that is no JSON. */
export function readStreamedAnswer(format: AnswerFormat, stream: Uint8Array): ReadAnswer {
  const reader = createEventReader(stream.length + 1);
  const events: AnswerJson[] = [];
  for (const { data } of [...reader.read(stream), ...reader.end()]) {
    if (data === "" || data === "[DONE]") continue;
    const json: unknown = JSON.parse(data);
    if (isRecord(json)) events.push(json);
  }
  return format.readStream(events);
}
