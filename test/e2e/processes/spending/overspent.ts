import type { AccountCredits } from "../../../../src/ledger/credit-ledger.js";
import { mostMicro } from "./account-terms.js";

/**
 * The limits that an account exceeds by a whole call or more. What a window has left and what is prepaid is one pool: a
 * call that ends early may leave the plan to one that held prepaid credits, so what is used and held of a window alone
 * may be more than its limit.
 *
 * @param losesPrepaid - a lot that has expired still pays for calls that were admitted before, but is not shown. What is
 *   taken back may be held. So the pool may look smaller than it is.
 */
export function overspent({ windows, prepaid, caps = [] }: AccountCredits, losesPrepaid: boolean): string[] {
  const found: string[] = [];
  const { balanceMicro = 0, heldMicro: prepaidHeld = 0 } = prepaid ?? {};
  for (const [name, { limitMicro, usedMicro, heldMicro, bonusMicro }] of Object.entries(windows)) {
    if (limitMicro === null) continue;
    const limit = limitMicro + bonusMicro;
    const isOverPool = !losesPrepaid && usedMicro + heldMicro + prepaidHeld - balanceMicro >= limit + mostMicro;
    if (usedMicro >= limit + mostMicro || isOverPool) {
      found.push(`${name} ${JSON.stringify({ limitMicro, usedMicro, heldMicro, bonusMicro, prepaid })}`);
    }
  }
  for (const cap of caps) {
    if (cap.usedMicro + cap.heldMicro >= cap.limitMicro + mostMicro) found.push(JSON.stringify(cap));
  }
  if (!losesPrepaid && balanceMicro <= -mostMicro) found.push(JSON.stringify(prepaid));
  return found;
}
