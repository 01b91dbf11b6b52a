import type { RenewRequest } from "../ledger/credit-ledger.js";
import type { AccountBatch } from "./account-queue.js";
import { renewOperation } from "./ledger-operation.js";

const maxBatch = 64;

/** Renewals that go in one statement. */
export interface RenewalBatch {
  readonly accounts: AccountBatch[];
  /** Where each renewal stood among the requests, in the order of the statement's results. */
  readonly places: number[];
}

/** Groups renewals by account, the accounts in one order everywhere: so two statements never wait for each other. */
export function renewalBatches(requests: readonly RenewRequest[]): RenewalBatch[] {
  const renewals = requests.map((request, place) => ({
    place,
    account: request.lease?.account,
    operation: renewOperation(request),
  }));
  renewals.sort((left, right) => (left.account < right.account ? -1 : left.account > right.account ? 1 : 0));

  const batches: RenewalBatch[] = [];
  for (const [index, { place, account: accountId, operation }] of renewals.entries()) {
    if (index % maxBatch === 0) batches.push({ accounts: [], places: [] });
    const { accounts, places } = batches.at(-1) as RenewalBatch;
    places.push(place);
    const account = accounts.at(-1);
    if (account?.account === accountId) account.operations.push(operation);
    else accounts.push({ account: accountId, operations: [operation] });
  }
  return batches;
}
