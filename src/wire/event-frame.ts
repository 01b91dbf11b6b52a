import { Buffer } from "node:buffer";

/** What stands before and behind the JSON of a server-sent event, as the gateway writes it and most upstreams do. */
export const eventStart = Buffer.from("data: ");
export const eventEnd = Buffer.from("\n\n");
