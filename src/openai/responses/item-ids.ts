/** What stands at the beginning of the ids of the gateway's own items, behind the prefix of their kind. */
const ownMark = "_ig_";

/** The prefixes of item ids in OpenAI's API. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "tsc";

/** The id of an output item of a response that the gateway makes: the same whenever the same response is made. */
export function ownItemId(prefix: ItemPrefix, responseId: string, index: number): string {
  // OpenAI takes no id of more than 64 characters.
  return `${prefix}${ownMark}${responseId.replace(/^resp_/, "").slice(0, 48)}_${index}`;
}

/** Whether the gateway made the item. Of such a one no upstream knows anything. */
export function isOwnItemId(id: string): boolean {
  return /^(?:msg|rs|fc|ctc|tsc)_ig_/.test(id);
}
