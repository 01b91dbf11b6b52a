/** The gateway's own item ids have this after the prefix of their kind. */
const ownMark = "_ig_";

/** The prefixes of item ids in OpenAI's API. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "tsc";

/** The id of an output item that the gateway makes. The same response always gets the same ids. */
export function ownItemId(prefix: ItemPrefix, responseId: string, index: number): string {
  // OpenAI accepts ids of at most 64 characters.
  return `${prefix}${ownMark}${responseId.replace(/^resp_/, "").slice(0, 48)}_${index}`;
}

/** Whether the gateway made the item. No upstream knows such an item. */
export function isOwnItemId(id: string): boolean {
  return /^(?:msg|rs|fc|ctc|tsc)_ig_/.test(id);
}
