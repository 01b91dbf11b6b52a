import type { UsageSum, UsageTotal } from "../../ledger/usage/usage-sum.js";

/** What an account used in one day, of one model, by one key. */
export interface UsageRow extends UsageTotal {
  /** In UTC, such as `2026-03-11`. */
  day: string;
  /** `null`: a hold of the host's, or a call whose process died. It was charged what its last renewal reported. */
  model: string | null;
  /** The key's id; `null` as in `model`. */
  keyId: string | null;
}

export function toUsageRow({ by, ...used }: UsageSum): UsageRow {
  const { day, model = null, key = null } = by;
  return { day: day ?? "", model, keyId: key, ...used };
}
