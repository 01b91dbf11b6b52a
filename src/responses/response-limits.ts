/** How much a response store keeps, and for how long. */
export interface ResponseLimits {
  /** How long a response is kept, in milliseconds; at least a second. Default: 30 days. */
  ttlMs?: number | undefined;
  /** How many bytes of responses an account has at most: beyond it, its oldest go. Default: 67,108,864, which is 64 MiB. */
  maxAccountBytes?: number | undefined;
}

/** All that there are. */
export const knownResponseLimits: Readonly<Record<keyof ResponseLimits, true>> = {
  ttlMs: true,
  maxAccountBytes: true,
};

const day = 86_400_000;

/** @throws RangeError when a limit is out of range. */
export function checkResponseLimits({
  ttlMs = 30 * day,
  maxAccountBytes = 64 * 1_024 * 1_024,
}: ResponseLimits = {}): Required<{ [Name in keyof ResponseLimits]: number }> {
  requireAtLeast("ttlMs", ttlMs, 1_000);
  requireAtLeast("maxAccountBytes", maxAccountBytes, 1);
  return { ttlMs, maxAccountBytes };
}

/** @throws RangeError when the number is another. */
export function requireAtLeast(name: string, value: number, least: number): void {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(`${name} must be a whole number of at least ${least}, not ${value}.`);
  }
}
