/** What the host files a call under: names of its own, such as `team` or `feature`, with their values. */
export type Tags = Readonly<Record<string, string>>;

/**
 * Tags as a function of the host returns them. Where it returns several shapes, TypeScript gives each of them the names of the
 * others, as `undefined`. A tag that is really there as `undefined` is refused: a call without its tag would escape the tag's
 * budget.
 */
export type ReturnedTags = Readonly<Record<string, string | undefined>>;

/** What usage is summed by without tags. */
export const usageDimensions = ["day", "model", "key"] as const;

/** What usage can be summed by beside tags. */
export const reservedTags: readonly string[] = [...usageDimensions, "funding"];

/** Names that are taken for one of {@link reservedTags}, with the one that is meant. */
const mistakenNames = {
  ...{ hour: "day", hours: "day", days: "day", models: "model", modelId: "model", model_id: "model" },
  ...{ keys: "key", keyId: "key", key_id: "key", apiKey: "key", api_key: "key" },
};

/** As {@link mistakenNames}, where the case does not matter. */
const meantNames = new Map([
  ...reservedTags.map((name) => [name, name] as const),
  ...Object.entries(mistakenNames).map(([name, meant]) => [name.toLowerCase(), meant] as const),
]);

/** What usage is summed by under this name instead; `undefined`: nothing, it may be a tag. */
export function meantDimension(name: string): string | undefined {
  return meantNames.get(name.toLowerCase());
}

/** A copy for all calls of a caller: the host's own code gets to see it, and must not change other calls by it. */
export function sharedTags(tags: Tags | null | undefined): Tags | undefined {
  return tags ? Object.freeze({ ...tags }) : undefined;
}

/** What a call cost the operator, in a journal entry's tags: a whole number of micro-credits. */
export const costTag = "costMicro";

/** Precedes the host's names in a journal entry's tags, so that they never collide with the gateway's own. */
export const journalTagPrefix = "tag.";
