import { randomUUID } from "node:crypto";
import { capBounds, windowLimits } from "../../src/ledger/calendar.js";
import type { Balance, CreditLedger, ReserveRequest } from "../../src/ledger/credit-ledger.js";

/** What one of several processes was admitted, and what it was charged. */
export interface Hammered {
  readonly admitted: number;
  readonly prepaid: number;
  readonly spentUp: number;
  readonly capped: number;
}

const maxAmount = 100;

/**
 * What one of several processes does on a ledger whose clock stands still: it makes all its calls of `rated` at once,
 * then spends from `prepaid`, `spentUp` and `capped` until each denies. The calls of `spentUp` leave and overdraw nothing.
 */
export async function hammerLimits(ledger: CreditLedger, now: number, calls: number): Promise<Hammered> {
  const rate = { id: "requests", kind: "requests", take: 1, limit: 100, burst: 100 } as const;
  const callRated = async () => (await ledger.reserve({ ...requestOf("rated", 1, null, now), rates: [rate] })).ok;
  const rated = await Promise.all(Array.from({ length: calls }, callRated));
  const bounds = capBounds("total", undefined, now);
  const cap = { id: "total", window: "total", limitMicro: 10_000, bounds } as const;
  const ofPrepaid = () => requestOf("prepaid", 1 + Math.floor(Math.random() * maxAmount), 0, now);
  const ofSpentUp = () => requestOf("spentUp", 1, 0, now);
  const ofCap = () => ({
    ...requestOf("capped", 1 + Math.floor(Math.random() * maxAmount), null, now),
    caps: [cap],
  });
  const prepaid = await inParallel(() => spendAll(ledger, ofPrepaid));
  const spentUp = await inParallel(() => spendAll(ledger, ofSpentUp));
  const capped = await inParallel(() => spendAll(ledger, ofCap));
  return { admitted: rated.filter((ok) => ok).length, prepaid, spentUp, capped };
}

function requestOf(account: string, amountMicro: number, week: number | null, now: number): ReserveRequest {
  const credits = { session: null, week, month: null };
  const limits = windowLimits({ credits, sessionMs: 3_600_000, now });
  return { id: randomUUID(), account, amountMicro, limits, leaseMs: 60_000 };
}

/** Spends until a call is denied. @returns what was charged. */
async function spendAll(ledger: CreditLedger, nextRequest: () => ReserveRequest): Promise<number> {
  let charged = 0;
  for (;;) {
    const request = nextRequest();
    const result = await ledger.reserve(request);
    requireWithin(result);
    if (!result.ok) {
      const { heldMicro = 0 } = result.caps?.[0] ?? result.prepaid ?? {};
      // Others may still give back some of what they hold.
      if (heldMicro === 0) return charged;
      continue;
    }
    const cost = Math.random() < 0.2 ? 0 : Math.ceil(Math.random() * request.amountMicro);
    if (cost === 0) await ledger.release(result.lease);
    else await ledger.settle(result.lease, { amountMicro: cost });
    charged += cost;
  }
}

/** Overspent by less than one request. */
function requireWithin({ prepaid, caps = [] }: Omit<Balance, "now">): void {
  if (prepaid && prepaid.heldMicro - prepaid.balanceMicro >= maxAmount) throw new Error(JSON.stringify(prepaid));
  for (const cap of caps) {
    if (cap.usedMicro + cap.heldMicro - cap.limitMicro >= maxAmount) throw new Error(JSON.stringify(cap));
  }
}

async function inParallel(spend: () => Promise<number>): Promise<number> {
  const spent = await Promise.all(Array.from({ length: 16 }, spend));
  return spent.reduce((sum, amount) => sum + amount, 0);
}
