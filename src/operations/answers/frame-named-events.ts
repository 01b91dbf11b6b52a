import { Buffer } from "node:buffer";
import type { ServerSentEvent } from "../../wire/event-reader.js";

/** Events that have names, as bytes. @param events - their data has no line breaks. */
export function frameNamedEvents(events: readonly ServerSentEvent[]): Uint8Array {
  return Buffer.from(events.map(({ event, data }) => `event: ${event}\ndata: ${data}\n\n`).join(""));
}
