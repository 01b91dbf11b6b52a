import { Buffer } from "node:buffer";
import type { ServerSentEvent } from "./event-reader.js";
import { startsWith } from "./json-members.js";

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/** The data of a whole event that has one line of it, and before it no line or the event's name; `undefined` for others. */
export function plainData(event: Buffer): Buffer | undefined {
  const line = startsWith(event, 0, eventNameStart) ? event.indexOf(lineFeed) + 1 : 0;
  const start = line + eventStart.length;
  const end = event.length - eventEnd.length;
  if (end < start || !startsWith(event, line, eventStart)) return undefined;
  if (event.indexOf(lineFeed, start) !== end || event[end + 1] !== lineFeed) return undefined;
  return event.includes(carriageReturn) ? undefined : event.subarray(start, end);
}

/** Reads such an event as an `EventReader` does, which has to be made first. */
export function readPlainEvent(event: Buffer): ServerSentEvent | undefined {
  const data = plainData(event);
  if (data === undefined) return undefined;
  const nameEnd = event.length - eventEnd.length - data.length - eventStart.length - 1;
  const name = nameEnd < 0 ? undefined : event.toString("utf8", eventNameStart.length, nameEnd);
  return { data: data.toString(), event: name || undefined };
}

/** What stands before and behind the JSON of a server-sent event, as the gateway writes it and most upstreams do. */
export const eventStart = Buffer.from("data: ");
/** Stands before the name of an event that has one. */
export const eventNameStart = Buffer.from("event: ");
export const eventEnd = Buffer.from("\n\n");

/** A comment, which every reader of server-sent events skips: it keeps a silent connection open. */
export const keepAliveComment: Uint8Array = Buffer.from(": keep-alive\n\n");
