/** What the host files a call under: names of its own, such as `team` or `feature`, with their values. */
export type Tags = Readonly<Record<string, string>>;

/** What usage is summed by without tags. No tag has one of these names. */
export const usageDimensions = ["day", "model", "key"] as const;

/** Precedes the host's names in a journal entry's tags, so that they never collide with the gateway's own. */
export const journalTagPrefix = "tag.";
