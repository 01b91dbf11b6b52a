import type { KnownAccount } from "../../access/account-lookup.js";
import type { Allowance } from "../../access/allowance.js";
import type { Lookup } from "../../access/cached-lookup.js";
import { idText } from "../../check/text-schemas.js";
import { type Clock, windowLimits } from "../../ledger/calendar.js";
import type { WindowLimits } from "../../ledger/credit-ledger.js";
import { wholeInstant } from "../../records/keys/check-key.js";
import type { Instant, KeyStore, WritableKeyStore } from "../../records/keys/key-store.js";
import { UnknownAccountError, UnknownPlanError, UnknownTermsError } from "./errors.js";
import { fromStore } from "./from-store.js";

/** The plan and the anchor of an account. */
export interface AccountTerms {
  /** Id of the plan. Default: that of the account's record, else the one of its keys. */
  plan?: string | null | undefined;
  /**
   * Where the account's weeks and months begin; `null`: Monday and the first of the month. Default: as its
   * record has it, else as its keys do. An account without keys, with a given `plan`, has the default of `null`.
   */
  anchor?: Instant | null | undefined;
}

/** Terms that were checked. */
export interface GivenTerms {
  readonly plan?: string | undefined;
  readonly anchor?: number | null | undefined;
}

export interface FoundTerms {
  readonly plan: string;
  readonly anchor: number | null;
}

/** The terms that one key names. */
interface KeyTerms {
  /** `undefined`: the key names none. */
  readonly plan: string | undefined;
  readonly anchor: number | null;
}

interface ResolvedTerms {
  readonly plan: string;
  readonly allowance: Allowance;
  readonly anchor: number | null;
  readonly limits: WindowLimits;
}

interface TermsLookups {
  readonly findAllowance: Lookup<Allowance>;
  readonly findAccount: Lookup<KnownAccount> | undefined;
}

/** Finds an account's plan and anchor: the given ones, or else those of its record, or of its keys. */
export class AccountTermsLookup {
  readonly #keys: KeyStore & Partial<Omit<WritableKeyStore, "find">>;
  readonly #lookups: TermsLookups;
  readonly #clock: Clock;

  constructor(keys: KeyStore, lookups: TermsLookups, clock: Clock) {
    this.#keys = keys;
    this.#lookups = lookups;
    this.#clock = clock;
  }

  /** @throws UnknownTermsError; what the key store throws. */
  async find(by: string, account: string, { plan, anchor }: GivenTerms): Promise<FoundTerms> {
    if (plan !== undefined && anchor !== undefined) return { plan, anchor };
    const known = await this.ofRecord(account);
    if (known === undefined) return this.#ofKeys(by, account, { plan, anchor });
    return { plan: plan ?? known.plan, anchor: anchor === undefined ? known.anchor : anchor };
  }

  /** @throws UnknownTermsError; GatewayError 503 when a store fails. */
  async resolve(by: string, account: string, given: GivenTerms): Promise<ResolvedTerms> {
    const { plan, anchor } = await fromStore(by, "key", () => this.find(by, account, given));
    const allowance = await this.#lookups.findAllowance(plan);
    if (allowance === undefined) {
      throw new UnknownPlanError(
        `${by}: there is no plan ${JSON.stringify(plan)}. Make it, or give another as \`plan\`.`,
      );
    }
    const { credits, sessionMs } = allowance;
    const limits = windowLimits({ credits, sessionMs, anchor: anchor ?? undefined, now: this.#clock.now() });
    return { plan, allowance, anchor, limits };
  }

  /** The terms of the account's record; `undefined` where there is none. */
  async ofRecord(account: string): Promise<FoundTerms | undefined> {
    const known = await this.#lookups.findAccount?.(account);
    return known && { plan: known.plan, anchor: known.anchor };
  }

  /**
   * Requires an account that is there, where accounts have records: a misspelled one must not get another one's credits or
   * limits. Without records any may be.
   * @throws UnknownAccountError where it has neither a record nor keys; GatewayError 503 when a store fails.
   */
  async requireAccount(by: string, account: string): Promise<void> {
    if (this.#lookups.findAccount === undefined || (await this.ofRecord(account)) !== undefined) return;
    if ((await fromStore(by, "key", () => this.ofEachKey(account))).length > 0) return;
    throw new UnknownAccountError(
      `${by}: the account ${JSON.stringify(account)} has neither a record nor keys. Make it with gateway.accounts.put or ` +
        "gateway.keys.create.",
    );
  }

  /** The terms of each of the account's keys in force, or of all of its keys. None where the store cannot list. */
  async ofEachKey(account: string): Promise<readonly KeyTerms[]> {
    const listed = (await this.#keys.list?.(account)) ?? [];
    const now = this.#clock.now();
    const inForce = listed.filter(
      ({ expiresAt, revokedAt, enabled }) =>
        enabled !== false && now < Math.min(expiresAt ?? Infinity, revokedAt ?? Infinity),
    );
    return (inForce.length > 0 ? inForce : listed).map(({ plan, anchor }) => ({
      plan: plan ?? undefined,
      anchor: anchor ?? null,
    }));
  }

  async #ofKeys(by: string, account: string, given: GivenTerms): Promise<FoundTerms> {
    if (typeof this.#keys.list !== "function") {
      throw new UnknownTermsError(
        `${by}: give \`plan\`, and \`anchor\` (null where there is none): the gateway's key store has no \`list\` to find ` +
          "them by the account's keys.",
      );
    }
    const keys = await this.ofEachKey(account);
    const plans = given.plan === undefined ? distinct(keys.flatMap((key) => key.plan ?? [])) : [given.plan];
    const anchors = given.anchor === undefined ? anchorsOf(keys, given.plan) : [given.anchor];
    const [plan] = plans;
    const [anchor] = anchors;
    if (plan === undefined || anchor === undefined) {
      const what = "Give `plan`, and `anchor` unless its weeks and months begin by the calendar.";
      const none = this.#lookups.findAccount === undefined ? "has no keys" : "has neither a record nor keys";
      if (keys.length === 0) throw new UnknownAccountError(`${by}: the account ${none}. ${what}`);
      throw new UnknownTermsError(`${by}: no key of the account names a plan. ${what}`);
    }
    const differing = [...(plans.length > 1 ? ["plan"] : []), ...(anchors.length > 1 ? ["anchor"] : [])];
    if (differing.length === 0) return { plan, anchor };
    const missing = differing.map((member) => `\`${member}\``).join(" and ");
    throw new UnknownTermsError(
      `${by}: the account's keys differ in their ${differing.join(" and ")}. Give ${missing}.`,
    );
  }
}

/** Another anchor would mean other windows, so a guess is allowed only when no key has an anchor. */
function anchorsOf(keys: readonly KeyTerms[], plan: string | undefined): readonly (number | null)[] {
  return keys.length === 0 && plan !== undefined ? [null] : distinct(keys.map(({ anchor }) => anchor));
}

function distinct<Value>(values: readonly Value[]): readonly Value[] {
  return [...new Set(values)];
}

const plan = idText()
  .nullish()
  .transform((value) => value ?? undefined);

/** The members of {@link AccountTerms}. */
export const termsShape = { plan, anchor: wholeInstant };
