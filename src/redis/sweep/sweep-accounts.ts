import type { DueAccount, DueAccounts } from "./due-accounts.js";

/** What a sweep of an account came to: how many leases it ended, and when the next one ends that has reported a cost. */
export type SweepAccount = (digest: string) => Promise<readonly [ended: number, nextEnd: string]>;

/** So many accounts are swept at once. */
const mostAtOnce = 100;
const mostRounds = 100;

/**
 * Sweeps the accounts that are due, up to 10,000. Several processes may do so at once.
 *
 * @returns how many leases it ended.
 * @throws the first failure, when all that could be swept then is.
 */
export async function sweepAccounts(due: DueAccounts, sweep: SweepAccount): Promise<number> {
  let total = 0;
  for (let round = 0; round < mostRounds; round++) {
    const taken = await due.take(mostAtOnce);
    if (taken.length === 0) break;
    const outcomes = await Promise.allSettled(taken.map((account) => sweepOne(account, sweep)));
    const swept = outcomes.flatMap((outcome) => (outcome.status === "fulfilled" ? [outcome.value] : []));
    await due.finish(swept);
    total = swept.reduce((sum, { ended }) => sum + ended, total);
    const failed = outcomes.find((outcome) => outcome.status === "rejected");
    if (failed !== undefined) throw failed.reason;
  }
  return total;
}

async function sweepOne(account: DueAccount, sweep: SweepAccount) {
  const [ended, nextEnd] = await sweep(account.digest);
  return { ...account, ended, nextEnd };
}
