import type { AccountCredits } from "../../../src/ledger/credit-ledger.js";
import { mostMicro } from "./account-terms.js";

/**
 * The limits that an account exceeds by a whole call or more. Windows and prepaid credits are one pool: what others hold of
 * a window does not keep a call from being charged to it.
 * @param isSteady - no prepaid credits expire or are taken back. What they did is not shown.
 */
export function overspent({ windows, prepaid, caps = [] }: AccountCredits, isSteady: boolean): string[] {
  const found: string[] = [];
  const { balanceMicro = 0, heldMicro: heldOfPrepaid = 0 } = prepaid ?? {};
  for (const [name, { limitMicro, usedMicro, heldMicro, bonusMicro }] of Object.entries(windows)) {
    if (limitMicro === null || !isSteady) continue;
    const committed = usedMicro + heldMicro + heldOfPrepaid;
    if (committed < limitMicro + bonusMicro + balanceMicro + mostMicro) continue;
    // A plan without credits admits nothing, so nothing is used.
    found.push(`${name} ${JSON.stringify({ limitMicro, usedMicro, heldMicro, bonusMicro, prepaid })}`);
  }
  for (const cap of caps) {
    if (cap.usedMicro + cap.heldMicro >= cap.limitMicro + mostMicro) found.push(JSON.stringify(cap));
  }
  return found;
}
