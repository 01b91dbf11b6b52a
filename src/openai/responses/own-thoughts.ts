import { Buffer } from "node:buffer";
import { startsWith } from "../../wire/json-members.js";
import type { Span } from "../chat/message-outline.js";
import type { InputItem } from "./input-outline.js";
import { isOwnItemId } from "./item-ids.js";
import { ownReasoning } from "./reasoning-payload.js";
import type { ResponsesRequest } from "./responses-request.js";

/** A reasoning item that the gateway has made. */
export interface OwnThought {
  readonly item: InputItem;
  /** Its `encrypted_content`, if the gateway wrote it. */
  readonly encrypted: Span | undefined;
}

const beginning = Buffer.from(`"${ownReasoning}`);

/** The reasoning items of an input that the gateway has made. Only the gateway can read them. */
export function ownThoughts({ body, items }: ResponsesRequest): OwnThought[] {
  const thoughts: OwnThought[] = [];
  for (const item of items ?? []) {
    if (item.type !== "reasoning") continue;
    const { encrypted, id } = item;
    const isOwn = encrypted !== undefined && startsWith(body, encrypted.start, beginning);
    if (isOwn) thoughts.push({ item, encrypted });
    else if (id !== undefined && isOwnItemId(id)) thoughts.push({ item, encrypted: undefined });
  }
  return thoughts;
}
