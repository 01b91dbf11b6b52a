import type { Clock } from "../../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { storeRules } from "./store-rules.js";
import type { Operation } from "./store-server.js";

interface Logged {
  readonly at: number;
  readonly operation: Operation;
}

/** Does what its primary has done, at the primary's time, but later: what it lacks when the primary fails is lost. */
export class Replica {
  readonly rules: CreditLedger;
  readonly #clock: Clock;
  readonly #lagMs: number;
  #log: Logged[] = [];
  #next = 0;
  #replaying: number | undefined;

  constructor(clock: Clock, lagMs: number, parts: number) {
    this.#clock = clock;
    this.#lagMs = lagMs;
    this.rules = storeRules({ now: () => this.#replaying ?? clock.now() }, parts);
  }

  /** The primary has done an operation now. */
  add(operation: Operation): void {
    const now = this.#clock.now();
    this.#log.push({ at: now, operation });
    this.#follow(now - this.#lagMs);
    if (this.#next > 10_000) {
      this.#log = this.#log.slice(this.#next);
      this.#next = 0;
    }
  }

  /** Takes the primary's place. @returns how many operations are lost. */
  promote(): number {
    return this.#log.length - this.#next;
  }

  /** Does what was logged before a moment. */
  #follow(moment: number): void {
    for (;;) {
      const logged = this.#log[this.#next];
      if (logged === undefined || logged.at > moment) break;
      this.#next++;
      this.#replaying = logged.at;
      // It runs to its end at once, and was refused if the primary's was.
      logged.operation(this.rules).catch(() => {});
    }
    this.#replaying = undefined;
  }
}
