/** A database may be set to return integers as BigInt. All that the stores keep are safe integers. */
export function toNumber(value: unknown): number {
  return Number(value);
}

export function toNumberOrNull(value: unknown): number | null {
  return value === null ? null : Number(value);
}
