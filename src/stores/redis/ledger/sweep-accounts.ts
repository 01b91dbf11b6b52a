import type { RenewRequest } from "../../../ledger/credit-ledger.js";
import { digest } from "../account-keys.js";
import type { RunScript } from "../script.js";
import type { LedgerScripts } from "./ledger-scripts.js";

/** What a sweep of an account came to: how many leases it ended, and when the next one ends that has reported a cost. */
type SweepAccount = (digest: string) => Promise<readonly [ended: number, nextEnd: string]>;

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

/** An account that is being swept. */
interface DueAccount {
  readonly digest: string;
  /** As what it stands in the set meanwhile. */
  readonly meanwhile: string;
}

/** An account that was swept. */
interface SweptAccount extends DueAccount {
  /** When the next of its leases ends that has reported a cost. Empty: there is none. */
  readonly nextEnd: string;
}

/** The accounts in which a lease may have expired that has reported a cost. */
export class DueAccounts {
  readonly #run: RunScript;
  readonly #scripts: LedgerScripts;
  readonly #keys: readonly string[];

  constructor(run: RunScript, scripts: LedgerScripts, prefix: string) {
    this.#run = run;
    this.#scripts = scripts;
    this.#keys = [`${prefix}:due`];
  }

  /** Notes the accounts of leases that report a cost, all in one script. */
  async note(requests: readonly RenewRequest[]): Promise<void> {
    const ends = new Map<string, number>();
    for (const { lease, observedMicro, leaseMs } of requests) {
      if (observedMicro > 0) ends.set(lease.account, Math.min(leaseMs, ends.get(lease.account) ?? leaseMs));
    }
    if (ends.size === 0) return;
    const noted = Array.from(ends, ([account, leaseMs]) => [digest(account), leaseMs]);
    await this.#run(this.#scripts.noteDue, this.#keys, [JSON.stringify(noted.flat())]);
  }

  /** The next ones that are due. They are not due again for ten seconds, should this process end before it has swept them. */
  async take(most: number): Promise<DueAccount[]> {
    const reply = (await this.#run(this.#scripts.takeDue, this.#keys, [JSON.stringify([most])])) as readonly unknown[];
    const taken = reply.map(String);
    return Array.from({ length: taken.length / 2 }, (_, index) => ({
      digest: taken[2 * index] as string,
      meanwhile: taken[2 * index + 1] as string,
    }));
  }

  async finish(swept: readonly SweptAccount[]): Promise<void> {
    if (swept.length === 0) return;
    const ends = swept.flatMap(({ digest: of, meanwhile, nextEnd }) => [of, meanwhile, nextEnd]);
    await this.#run(this.#scripts.finishDue, this.#keys, [JSON.stringify(ends)]);
  }
}
