import { z } from "zod";
import { freeText, idText } from "../../check/id-text.js";
import { keyAccount, wholeInstant } from "../../keys/check-key.js";
import type { Instant } from "../../keys/key-store.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import type { PrepaidState } from "../../ledger/prepaid-state.js";
import { type AccountTermsLookup, UnknownTermsError } from "./account-terms.js";
import { checkAccountInput } from "./check-account-input.js";
import { type CreditAmount, creditAmountShape, toCreditsMicro } from "./credit-amount.js";

/** What {@link AccountTopUps.topUp} takes: an amount, and the rest. */
export type PrepaidTopUp = CreditAmount & {
  /** The same id, such as that of a payment, tops up once. The ledger remembers it for 31 days at least. */
  id: string;
  /** When these credits end; later than now. An account has 100 different moments at the most. Default: never. */
  expiresAt?: Instant | null | undefined;
  /** For the journal. */
  note?: string | undefined;
};

/** Prepaid credits: they outlive windows, and pay for calls that the plan does not. */
export interface AccountTopUps {
  /**
   * Adds prepaid credits, once per id. They first pay what earlier calls overdrew. What was sold is not taken back.
   * @throws TypeError when the amount is not positive; UnknownTermsError when the gateway has an account store, and the
   * account has neither a record nor keys; LedgerConflictError when the id was used for another top-up; LedgerInputError
   * when `expiresAt` is over, or there are too many moments of expiry; Error when the ledger keeps no prepaid credits.
   */
  topUp(account: string, topUp: PrepaidTopUp): Promise<PrepaidState>;
}

const topUpInput = z.strictObject({
  account: keyAccount,
  id: idText(200),
  ...creditAmountShape,
  expiresAt: wholeInstant,
  note: freeText(1000).optional(),
});

interface TopUpStores {
  readonly ledger: CreditLedger;
  /** `undefined`: accounts stand on their keys alone, and any may be topped up. */
  readonly accounts?: unknown;
}

const by = "gateway.accounts.topUp";

export function accountTopUps({ ledger, accounts }: TopUpStores, terms: AccountTermsLookup): AccountTopUps {
  return {
    async topUp(account, given) {
      const { id, credits, creditsMicro, expiresAt, note } = checkAccountInput(by, topUpInput, account, given);
      if ((credits ?? creditsMicro ?? 1) <= 0) {
        throw new TypeError(`${by}: the amount must be positive: what was sold is not taken back.`);
      }
      const amountMicro = toCreditsMicro(by, { credits, creditsMicro });
      if (ledger.topUp === undefined) {
        throw new Error(`${by}: the gateway's ledger keeps no prepaid credits. Use one that has \`topUp\`.`);
      }
      if (accounts !== undefined && (await terms.ofEachKey(account)).length === 0) {
        throw new UnknownTermsError(
          `${by}: the account has neither a record nor keys. Make it with gateway.accounts.put or gateway.keys.create.`,
        );
      }
      return ledger.topUp({
        ...{ id, account, amountMicro },
        ...(typeof expiresAt === "number" && { expiresAt }),
        ...(note !== undefined && { note }),
      });
    },
  };
}
