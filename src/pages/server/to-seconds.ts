/** Epoch seconds, rounded up: whoever waits for them does not come too early. */
export function toSeconds<Instant extends number | null>(ms: Instant): Instant {
  return (ms === null ? null : Math.ceil(ms / 1000)) as Instant;
}
