/** The gateway's own item ids have this after the prefix of their kind. */
const ownMark = "_ig_";

/** The prefixes of item ids in OpenAI's API; `item` is the gateway's own, for items of clients that came without an id. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "tsc" | "item";

/** The id of an output item that the gateway makes. The same response always gets the same ids. */
export function ownItemId(prefix: ItemPrefix, responseId: string, index: number | string): string {
  // OpenAI accepts ids of at most 64 characters.
  return `${prefix}${ownMark}${responseId.replace(/^resp_/, "").slice(0, 48)}_${index}`;
}

/** Whether the gateway gave the id. No upstream knows it. */
export function isOwnItemId(id: string): boolean {
  return /^(?:msg|rs|fc|ctc|tsc|item)_ig_/.test(id);
}

/** Whether the gateway made the item itself, and not its id alone. */
export function isOwnItem(id: string): boolean {
  return isOwnItemId(id) && !id.startsWith(`item${ownMark}`);
}
