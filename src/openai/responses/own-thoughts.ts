import { Buffer } from "node:buffer";
import type { Span } from "../../model-api/prompt/message-outline.js";
import { startsWith } from "../../wire/json-members.js";
import { ownPayloadPrefix } from "../../wire/own-payload.js";
import type { InputItem } from "./input-outline.js";
import { isOwnItem } from "./item-ids.js";
import type { ResponsesRequest } from "./responses-request.js";

/** A reasoning item that the gateway has made. */
export interface OwnThought {
  readonly item: InputItem;
  /** Its `encrypted_content`, if the gateway wrote it. */
  readonly encrypted: Span | undefined;
}

const beginning = Buffer.from(`"${ownPayloadPrefix}`);

/** Whether the gateway has made the reasoning item, which then only it can read. */
export function isOwnThought(body: Uint8Array, { encrypted, id }: InputItem): boolean {
  return hasOwnPayload(body, encrypted) || (id !== undefined && isOwnItem(id));
}

/** The reasoning items of an input that the gateway has made. Only the gateway can read them. */
export function ownThoughts({ body, items }: ResponsesRequest): OwnThought[] {
  return (items ?? []).flatMap((item) => {
    if (item.type !== "reasoning" || !isOwnThought(body, item)) return [];
    return { item, encrypted: hasOwnPayload(body, item.encrypted) ? item.encrypted : undefined };
  });
}

function hasOwnPayload(body: Uint8Array, encrypted: Span | undefined): boolean {
  return encrypted !== undefined && startsWith(body, encrypted.start, beginning);
}
