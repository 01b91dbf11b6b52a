import type { RenewRequest } from "../../ledger/credit-ledger.js";
import { renewOperation } from "../ledger-operation.js";
import type { AccountBatch } from "./account-batch.js";
import { accountBatches } from "./account-batches.js";
import { byAccount } from "./by-account.js";

const maxBatch = 64;

/** Renewals that go in one statement. */
export interface RenewalBatch {
  readonly accounts: AccountBatch[];
  /** Where each renewal stood among the requests, in the order of the statement's results. */
  readonly places: number[];
}

/** Groups renewals by account, the accounts in the order in which all statements lock them. */
export function renewalBatches(requests: readonly RenewRequest[]): RenewalBatch[] {
  const renewals = requests.map((request, place) => ({
    place,
    account: request.lease?.account,
    operation: renewOperation(request),
  }));
  renewals.sort(byAccount);

  const batches: RenewalBatch[] = [];
  for (let from = 0; from < renewals.length; from += maxBatch) {
    const batch = renewals.slice(from, from + maxBatch);
    batches.push({ accounts: accountBatches(batch), places: batch.map(({ place }) => place) });
  }
  return batches;
}
