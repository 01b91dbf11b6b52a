import { Buffer } from "node:buffer";

/** What stands before and behind the JSON of a server-sent event, as the gateway writes it and most upstreams do. */
export const eventStart = Buffer.from("data: ");
/** Stands before the name of an event that has one. */
export const eventNameStart = Buffer.from("event: ");
export const eventEnd = Buffer.from("\n\n");

/** A comment, which every reader of server-sent events skips: it keeps a silent connection open. */
export const keepAliveComment: Uint8Array = Buffer.from(": keep-alive\n\n");
