import type { CreditLedger, RenewRequest, RenewStatus } from "../credit-ledger.js";

interface Part {
  readonly places: number[];
  readonly requests: RenewRequest[];
}

/**
 * Renews each lease where its account is kept.
 * @throws what the first ledger threw that failed, when the others have renewed theirs.
 */
export async function renewInShards(
  requests: readonly RenewRequest[],
  ledgerOf: (account: string) => CreditLedger,
): Promise<readonly RenewStatus[]> {
  const parts = new Map<CreditLedger, Part>();
  for (const [place, request] of requests.entries()) {
    const ledger = ledgerOf(request.lease.account);
    const part = parts.get(ledger) ?? { places: [], requests: [] };
    parts.set(ledger, part);
    part.places.push(place);
    part.requests.push(request);
  }
  const statuses: RenewStatus[] = new Array(requests.length);
  const renewals = [...parts].map(async ([ledger, part]) => {
    const answers = await ledger.renew(part.requests);
    for (const [index, place] of part.places.entries()) statuses[place] = answers[index] ?? "closed";
  });
  for (const renewal of await Promise.allSettled(renewals)) {
    if (renewal.status === "rejected") throw renewal.reason;
  }
  return statuses;
}
