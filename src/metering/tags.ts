/** What the host files a call under: names of its own, such as `team` or `feature`, with their values. */
export type Tags = Readonly<Record<string, string>>;

/** What usage is summed by without tags. */
export const usageDimensions = ["day", "model", "key"] as const;

/** What usage can be summed by beside tags. No tag has one of these names. */
export const reservedTags: readonly string[] = [...usageDimensions, "funding"];

/** Precedes the host's names in a journal entry's tags, so that they never collide with the gateway's own. */
export const journalTagPrefix = "tag.";
