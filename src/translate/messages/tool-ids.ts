import { Buffer } from "node:buffer";

/** What Anthropic takes for the id of a tool call. */
const plainId = /^[a-zA-Z0-9_-]+$/;

/** Behind it stands an id of another form, as base64url. Anthropic's own go on with a digit. */
const encodedPrefix = "toolu_x";

/** The id of a tool call as a client of Messages gets it. {@link fromMessagesToolId} gives the upstream's back. */
export function toMessagesToolId(id: string): string {
  if (plainId.test(id) && !id.startsWith(encodedPrefix)) return id;
  return encodedPrefix + Buffer.from(id).toString("base64url");
}

/** The upstream's own id: some templates need the form that they have given it. */
export function fromMessagesToolId(id: string): string {
  if (!id.startsWith(encodedPrefix)) return id;
  const decoded = Buffer.from(id.slice(encodedPrefix.length), "base64url").toString("utf8");
  return toMessagesToolId(decoded) === id ? decoded : id;
}
