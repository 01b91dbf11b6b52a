import type { CreditLedger, RenewRequest, RenewStatus } from "../credit-ledger.js";

interface Part {
  readonly places: number[];
  readonly requests: RenewRequest[];
}

/**
 * Renews each lease where its account is kept.
 * @throws the first failure, be it a ledger's or `ledgerOf`'s, when all other leases are renewed.
 */
export async function renewInShards(
  requests: readonly RenewRequest[],
  ledgerOf: (account: string) => CreditLedger,
): Promise<readonly RenewStatus[]> {
  const parts = new Map<CreditLedger, Part>();
  const failures: unknown[] = [];
  for (const [place, request] of requests.entries()) {
    try {
      const ledger = ledgerOf(request.lease.account);
      const part = parts.get(ledger) ?? { places: [], requests: [] };
      parts.set(ledger, part);
      part.places.push(place);
      part.requests.push(request);
    } catch (error) {
      failures.push(error);
    }
  }
  const statuses: RenewStatus[] = new Array(requests.length);
  const renewals = [...parts].map(async ([ledger, part]) => {
    const answers = await ledger.renew(part.requests);
    for (const [index, place] of part.places.entries()) statuses[place] = answers[index] ?? "closed";
  });
  for (const renewal of await Promise.allSettled(renewals)) {
    if (renewal.status === "rejected") failures.push(renewal.reason);
  }
  if (failures.length > 0) throw failures[0];
  return statuses;
}
