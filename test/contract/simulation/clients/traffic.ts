import { Calendar } from "../../../../src/ledger/calendar.js";
import type { WindowLimits, WindowName } from "../../../../src/ledger/credit-ledger.js";
import { type Random, Zipf } from "../engine/random.js";

/** What an account may use in a session, in micro-credits: about 3, 50 and any number of requests. */
const sessionCredits = [60_000, 1_000_000, 1_000_000_000_000] as const;
const sessionMs = 5 * 3_600_000;
/** The part of the accounts, with most of the calls, that have paid for them, but for each tenth. */
const busiest = 0.001;

/** In micro-credits. */
const meanHold = 20_000;
const holdSigma = 0.8;
const medianCallMs = 1_500;
const callSigma = 1;

/** What a client asks for. */
export interface Demand {
  readonly account: number;
  /** The upper bound that is held. */
  readonly holdMicro: number;
  readonly costMicro: number;
  readonly durationMs: number;
}

interface Plan {
  readonly calendar: Calendar;
  readonly credits: Readonly<Record<WindowName, number | null>>;
}

/** Who calls, and what it costs. */
export class Traffic {
  readonly #zipf: Zipf;
  readonly #busiest: number;
  readonly #plans: readonly Plan[] = sessionCredits.map((session) => ({
    calendar: new Calendar(undefined),
    credits: { session, week: 4 * session, month: null },
  }));

  constructor(accounts: number, exponent: number) {
    this.#zipf = new Zipf(accounts, exponent);
    this.#busiest = accounts * busiest;
  }

  demand(random: Random): Demand {
    const median = meanHold * Math.exp(-(holdSigma ** 2) / 2);
    const holdMicro = Math.max(1, Math.round(random.lognormal(median, holdSigma)));
    return {
      account: this.#zipf.rank(random),
      holdMicro,
      costMicro: Math.ceil(holdMicro * random.between(0.1, 0.8)),
      durationMs: random.lognormal(medianCallMs, callSigma),
    };
  }

  limits(account: number, now: number): WindowLimits {
    const { calendar, credits } = this.#plans[this.#kindOf(account)] as Plan;
    return calendar.limits(credits, sessionMs, now);
  }

  /** The limit of the window that ends first. The others are no smaller. */
  sessionMicro(account: number): number {
    return sessionCredits[this.#kindOf(account)];
  }

  /** Of ten accounts three have little, five some and two any number of credits. */
  #kindOf(account: number): 0 | 1 | 2 {
    const place = account % 10;
    if (account < this.#busiest) return place === 0 ? 1 : 2;
    return place < 3 ? 0 : place < 8 ? 1 : 2;
  }
}
