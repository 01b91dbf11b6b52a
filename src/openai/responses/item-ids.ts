/** What stands at the beginning of the ids of the gateway's own items, behind the prefix of their kind. */
const ownMark = "_ig_";

/** The prefixes of item ids in OpenAI's API; `item` is the gateway's own, for items of clients that came without an id. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "tsc" | "item";

/** The id of an item of a response that the gateway gives: the same whenever it is given again. */
export function ownItemId(prefix: ItemPrefix, responseId: string, index: number | string): string {
  // OpenAI takes no id of more than 64 characters.
  return `${prefix}${ownMark}${responseId.replace(/^resp_/, "").slice(0, 48)}_${index}`;
}

/** Whether the id is the gateway's. Of such a one no upstream knows anything. */
export function isOwnItemId(id: string): boolean {
  return /^(?:msg|rs|fc|ctc|tsc|item)_ig_/.test(id);
}

/** Whether the gateway made the item itself, and not its id alone. */
export function isOwnItem(id: string): boolean {
  return isOwnItemId(id) && !id.startsWith(`item${ownMark}`);
}
