const microPerCredit = 1_000_000;

/** Credits with all their decimals. */
export function toCredits<Micro extends number | null>(micro: Micro): Micro {
  return (micro === null ? null : micro / microPerCredit) as Micro;
}

/** Epoch seconds, rounded up: whoever waits for them does not come too early. */
export function toSeconds<Instant extends number | null>(ms: Instant): Instant {
  return (ms === null ? null : Math.ceil(ms / 1000)) as Instant;
}
