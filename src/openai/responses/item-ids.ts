/** The gateway's own item ids have this after the prefix of their kind. */
const ownMark = "_ig_";

/** The prefixes of item ids in OpenAI's API; `item` is the gateway's own, for items of clients that came without an id. */
export type ItemPrefix = "msg" | "rs" | "fc" | "ctc" | "tsc" | "sh" | "lsh" | "apc" | "item";

/** The id of an output item that the gateway makes. The same response always gets the same ids. */
export function ownItemId(prefix: ItemPrefix, responseId: string, index: number | string): string {
  // OpenAI accepts ids of at most 64 characters.
  return `${prefix}${ownMark}${responseId.replace(/^resp_/, "").slice(0, 48)}_${index}`;
}

/** Under which name a chat message has thoughts as a text. */
export type ThoughtName = "reasoning_content" | "reasoning";

const marks: Readonly<Record<ThoughtName, string>> = { reasoning_content: "c", reasoning: "r" };
const marked = /^rs_ig_[^_]*_\d+_([cr])(.+)$/;

/**
 * The mark at the end of the id of thoughts: clients that keep the text alone send the id, too.
 * @param origin - an opaque mark of the target, since servers take no thoughts but their own.
 */
export function thoughtMark(origin: string, name: ThoughtName): string {
  return `_${marks[name]}${origin}`;
}

/** Under which name the thoughts of this id go back to their origin; `undefined`: they are of another one. */
export function thoughtNameFor(origin: string, id: unknown): ThoughtName | undefined {
  const [, mark, own] = (typeof id === "string" ? marked.exec(id) : null) ?? [];
  if (own !== origin) return undefined;
  return mark === marks.reasoning ? "reasoning" : "reasoning_content";
}

/** Whether the gateway gave the id. No upstream knows it. */
export function isOwnItemId(id: string): boolean {
  return /^(?:msg|rs|fc|ctc|tsc|sh|lsh|apc|item)_ig_/.test(id);
}

/** Whether the gateway made the item itself, and not its id alone. */
export function isOwnItem(id: string): boolean {
  return isOwnItemId(id) && !id.startsWith(`item${ownMark}`);
}
