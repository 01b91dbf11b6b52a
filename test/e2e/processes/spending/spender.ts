import { setImmediate, setTimeout } from "node:timers/promises";
import type { Gateway } from "../../../../src/gateway/gateway.js";
import type { CreditLedger, Lease, RenewRequest } from "../../../../src/ledger/credit-ledger.js";
import type { RateUse } from "../../../../src/ledger/limits.js";
import { type AccountTerms, limitsOf, mostMicro, mostTokens, namedOf } from "./account-terms.js";
import type { Random } from "./random.js";
import type { SpendingStep } from "./spending-step.js";

export interface SpenderSettings {
  /** Before the ids of its calls. */
  name: string;
  leaseMs: number;
  /** Expiring top-ups end at multiples of it, so that an account has few lots. */
  lotMs: number;
}

interface SpenderServices {
  /** Leaves a trace of each step. */
  ledger: CreditLedger;
  /** Of the same ledger, for the holds of a host. */
  gateway: Gateway;
  write: (step: SpendingStep) => void;
}

/** Makes random calls of all kinds on the accounts. */
export class Spender {
  readonly #terms: readonly AccountTerms[];
  readonly #random: Random;
  readonly #settings: SpenderSettings;
  readonly #services: SpenderServices;
  #serial = 0;

  constructor(terms: readonly AccountTerms[], random: Random, settings: SpenderSettings, services: SpenderServices) {
    this.#terms = terms;
    this.#random = random;
    this.#settings = settings;
    this.#services = services;
  }

  async spend(): Promise<void> {
    const random = this.#random;
    const hot = this.#terms.filter(({ kind }) => kind !== "cold");
    const terms = random.oneIn(3) ? random.of(this.#terms) : random.of(hot);
    if (terms.losesPrepaid && random.oneIn(24)) await this.#deduct(terms);
    else if (terms.isToppedUp && random.oneIn(6)) await this.#topUp(terms);
    else if (random.oneIn(6)) await this.#hold(terms);
    else await this.#call(terms);
  }

  #id(): string {
    return `${this.#settings.name}-${++this.#serial}`;
  }

  async #call(terms: AccountTerms): Promise<void> {
    const random = this.#random;
    const { ledger } = this.#services;
    const { leaseMs } = this.#settings;
    // The first key spends more than the others.
    const key = random.oneIn(2) ? 0 : random.below(terms.keys.length);
    const request = {
      ...{ id: this.#id(), account: terms.account, amountMicro: 1 + random.below(mostMicro), leaseMs },
      strict: random.oneIn(8),
      limits: limitsOf(terms),
      ...namedOf(terms, random.below(mostTokens + 1), key),
    };
    const isRepeated = random.oneIn(8);
    const result = await insist(() => ledger.reserve(request));
    if (!result.ok) return;
    const { lease } = result;
    await this.#think();
    if (isRepeated) await insist(() => ledger.reserve(request));
    let observed = 0;
    for (let renewals = random.below(3); renewals > 0; renewals--) {
      observed += random.below(lease.amountMicro - observed + 1);
      await this.#renew({ lease, observedMicro: observed, leaseMs, rates: this.#uses(lease) });
      await this.#think();
    }
    await this.#end(lease, random.oneIn(8) ? 0 : observed + random.below(lease.amountMicro - observed + 1));
  }

  async #renew(request: RenewRequest): Promise<void> {
    await insist(() => this.#services.ledger.renew([request]));
  }

  async #end(lease: Lease, amountMicro: number): Promise<void> {
    const { ledger, write } = this.#services;
    const random = this.#random;
    const rates = this.#uses(lease);
    write({ at: Date.now(), step: "ending", id: lease.id, uses: toRecord(rates) });
    const since = Date.now();
    let attempts = 0;
    const end = () => {
      const isRelease = amountMicro === 0 && !random.oneIn(2);
      const repeated = attempts++ > 0 ? { mayBeDuplicateSince: since } : {};
      if (isRelease) return ledger.release(lease, rates);
      return ledger.settle(lease, { amountMicro, rates, tags: { keyId: "spender" }, ...repeated });
    };
    await insist(end);
    if (random.oneIn(8)) await insist(end);
  }

  /** A request counts, also where it is released. Of the tokens some were not needed. */
  #uses({ rates = [] }: Lease): RateUse[] {
    return rates
      .filter(({ kind }) => kind !== "concurrent")
      .map(({ id, kind, take }) => ({ id, actual: kind === "tokens" ? this.#random.below(take + 1) : take }));
  }

  /** A hold of the host's own code, which the gateway renews. */
  async #hold({ account, kind }: AccountTerms): Promise<void> {
    const random = this.#random;
    const { gateway } = this.#services;
    const creditsMicro = 1 + random.below(mostMicro);
    try {
      const hold = await gateway.accounts.hold(account, { id: this.#id(), creditsMicro, plan: kind, anchor: null });
      await this.#think();
      if (random.oneIn(4)) await hold.release();
      else await hold.settle({ creditsMicro: random.below(creditsMicro + 1) });
    } catch (error) {
      // A denial, or a store that is down.
      const { status } = error as { status?: number };
      if (status !== 429 && status !== 503) throw error;
    }
  }

  async #topUp({ account, losesPrepaid }: AccountTerms): Promise<void> {
    const random = this.#random;
    const { ledger, write } = this.#services;
    const { lotMs } = this.#settings;
    const expiresAt = !losesPrepaid || random.oneIn(2) ? undefined : (Math.floor(Date.now() / lotMs) + 2) * lotMs;
    // Less than is spent meanwhile, so that they run out.
    const micro = 1 + random.below(mostMicro);
    const of = { id: `topup-${this.#id()}`, account, micro, ...(expiresAt !== undefined && { expiresAt }) };
    write({ at: Date.now(), step: "topping up", ...of });
    try {
      await insist(async () => ledger.topUp?.({ id: of.id, account, amountMicro: micro, expiresAt }));
    } catch (error) {
      // So late that the lot is over. It may have been made before, and its answer lost.
      if (expiresAt === undefined || Date.now() < expiresAt) throw error;
      return;
    }
    write({ at: Date.now(), step: "topped up", ...of });
  }

  async #deduct({ account }: AccountTerms): Promise<void> {
    const { ledger, write } = this.#services;
    const micro = 1 + this.#random.below(mostMicro / 4);
    const of = { id: `deduction-${this.#id()}`, account, micro: -micro };
    write({ at: Date.now(), step: "topping up", ...of });
    await insist(async () => ledger.deduct?.({ id: of.id, account, amountMicro: micro }));
    write({ at: Date.now(), step: "topped up", ...of });
  }

  /** Others come in between. */
  async #think(): Promise<void> {
    for (let turns = this.#random.below(12); turns > 0; turns--) await setImmediate();
  }
}

/** Repeats an operation, by its id, for as long as the store is down. */
async function insist<T>(operation: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await operation();
    } catch (error) {
      if (!(error instanceof Error) || error.name !== "LedgerUnavailableError") throw error;
      await setTimeout(20);
    }
  }
}

function toRecord(uses: readonly RateUse[]): Record<string, number> {
  return Object.fromEntries(uses.map(({ id, actual }) => [id, actual]));
}
