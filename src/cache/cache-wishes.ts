/** What a client says of kept responses. */
export interface CacheWishes {
  /** The response is neither taken from the cache nor kept. */
  readonly noStore: boolean;
  /** It is made anew, and kept. */
  readonly noCache: boolean;
  /** It is no older, in milliseconds. */
  readonly maxAgeMs: number;
}

/** Reads `cache-control` of a request (RFC 9111, section 5.2.1). What is not understood wishes nothing. */
export function readCacheWishes(header: string | undefined): CacheWishes {
  const wishes = (header ?? "")
    .toLowerCase()
    .split(",")
    .map((each) => each.trim());
  const age = wishes.map((each) => /^max-age="?(\d{1,9})"?$/.exec(each)?.[1]).find((each) => each !== undefined);
  return {
    noStore: wishes.includes("no-store"),
    noCache: wishes.includes("no-cache"),
    maxAgeMs: age === undefined ? Number.POSITIVE_INFINITY : Number(age) * 1000,
  };
}
