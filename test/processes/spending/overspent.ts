import type { AccountCredits } from "../../../src/ledger/credit-ledger.js";
import { mostMicro } from "./account-terms.js";

/** The limits that an account exceeds by a whole call or more. */
export function overspent({ windows, prepaid, caps = [] }: AccountCredits, hasExpiringLots: boolean): string[] {
  const found: string[] = [];
  for (const [name, { limitMicro, usedMicro, heldMicro, bonusMicro }] of Object.entries(windows)) {
    if (limitMicro === null || usedMicro + heldMicro < limitMicro + bonusMicro + mostMicro) continue;
    // A plan without credits admits nothing, so nothing is used.
    found.push(`${name} ${JSON.stringify({ limitMicro, usedMicro, heldMicro, bonusMicro })}`);
  }
  for (const cap of caps) {
    if (cap.usedMicro + cap.heldMicro >= cap.limitMicro + mostMicro) found.push(JSON.stringify(cap));
  }
  // A lot that has expired still pays for calls that were admitted before, but is not shown.
  if (prepaid && !hasExpiringLots && prepaid.heldMicro - prepaid.balanceMicro >= mostMicro) {
    found.push(JSON.stringify(prepaid));
  }
  return found;
}
