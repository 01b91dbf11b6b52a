import { Buffer } from "node:buffer";

/** Keeps a connection open. Every client of Anthropic's knows it. */
export const pingEvent: Uint8Array = messagesEvent("ping", '{"type":"ping"}');

/** A server-sent event of a stream of messages. Clients skip events without their name. @param json - without line breaks. */
export function messagesEvent(name: string, json: string): Buffer {
  return Buffer.from(`event: ${name}\ndata: ${json}\n\n`);
}
