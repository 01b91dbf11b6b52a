import type { RenewRequest } from "../../ledger/credit-ledger.js";
import { digest } from "../account-keys.js";
import type { LedgerScripts } from "../ledger-scripts.js";
import type { RunScript } from "../run-script.js";

/** An account that is being swept. */
export interface DueAccount {
  readonly digest: string;
  /** As what it stands in the set meanwhile. */
  readonly meanwhile: string;
}

/** An account that was swept. */
export interface SweptAccount extends DueAccount {
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
