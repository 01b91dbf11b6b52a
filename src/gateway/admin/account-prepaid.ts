import * as z from "zod";
import { type AuditAuthor, authorShape } from "../../audit/checked-audit-trail.js";
import { InputError, UnsupportedError } from "../../check/check-input.js";
import { idText } from "../../check/text-schemas.js";
import type { CreditLedger } from "../../ledger/credit-ledger.js";
import type { PrepaidState, TopUpRequest } from "../../ledger/limits.js";
import type { Micro } from "../../prices/micro.js";
import { keyAccount, wholeInstant } from "../../records/keys/check-key.js";
import type { Instant } from "../../records/keys/key-store.js";
import type { AccountTermsLookup } from "./account-terms.js";
import type { Auditor } from "./audit.js";
import { type CreditAmount, creditAmountShape, toCreditsMicro } from "./credit-amount.js";
import { fromLedger } from "./from-store.js";
import { checkAccountInput } from "./method-checks.js";

/** What {@link AccountPrepaid.topUp} takes: an amount, and the rest. `by` and `note` are in the journal, too. */
export type PrepaidTopUp = CreditAmount &
  AuditAuthor & {
    /** The same id, such as that of a payment, tops up once. The ledger remembers it for 31 days at least. */
    id: string;
    /** When these credits end; later than now. An account has 100 different moments at the most. Default: never. */
    expiresAt?: Instant | null | undefined;
  };

/** What {@link AccountPrepaid.deduct} takes: an amount, and the rest. `by` and `note` are in the journal, too. */
export type PrepaidDeduction = CreditAmount &
  AuditAuthor & {
    /** The same id, such as that of a refund, deducts once. The ledger remembers it for 31 days at least. */
    id: string;
  };

/** Prepaid credits: they outlive windows, and pay what the plan has no room for. */
export interface AccountPrepaid {
  /**
   * Adds prepaid credits, once per id. They first pay what the account owes.
   * @throws TypeError when the amount is not positive; UnknownAccountError when the gateway has an account store, and the
   * account has neither a record nor keys; LedgerConflictError when the id was used for another top-up; LedgerInputError
   * when `expiresAt` is over, or there are too many moments of expiry; TypeError when the ledger keeps no prepaid credits.
   */
  topUp(account: string, topUp: PrepaidTopUp): Promise<PrepaidState>;
  /**
   * Takes prepaid credits back, once per id: a refund, a chargeback, a gift by mistake. Those that expire first go first.
   * What the account does not have any more, it owes: the balance falls below zero, and the next top-up pays that first.
   * Calls in progress go on.
   * @throws as {@link AccountPrepaid.topUp}; LedgerConflictError when the id was used for another deduction or a top-up.
   */
  deduct(account: string, deduction: PrepaidDeduction): Promise<PrepaidState>;
}

const deductionInput = z.strictObject({
  account: keyAccount,
  id: idText(200),
  ...creditAmountShape,
  ...authorShape,
});
const topUpInput = deductionInput.extend({ expiresAt: wholeInstant });

interface PrepaidStores {
  readonly ledger: CreditLedger;
  readonly audit: Auditor;
}

interface PrepaidChange extends TopUpRequest {
  readonly action: "accounts.topUp" | "accounts.deduct";
}

export function accountPrepaid({ ledger, audit }: PrepaidStores, terms: AccountTermsLookup): AccountPrepaid {
  function change({ action, account, by, note, ...given }: PrepaidChange, make: () => Promise<PrepaidState>) {
    return audit.keep({ action, account, by, note, given }, async (entry) => {
      const state = await make();
      entry.after = { balanceMicro: state.balanceMicro };
      return state;
    });
  }

  return {
    async topUp(account, given) {
      const by = "gateway.accounts.topUp";
      const { expiresAt, ...input } = checkAccountInput(by, topUpInput, account, given);
      const amountMicro = positiveMicro(by, input, "deduct takes back what was sold");
      const { topUp } = ledger;
      if (topUp === undefined) throw keepsNone(by, "topUp");
      await terms.requireAccount(by, account);
      const expiry = typeof expiresAt === "number" ? { expiresAt } : {};
      const request = { ...requestOf(input), account, amountMicro, ...expiry };
      return change({ action: "accounts.topUp", ...request }, () => fromLedger(by, () => topUp.call(ledger, request)));
    },

    async deduct(account, given) {
      const by = "gateway.accounts.deduct";
      const input = checkAccountInput(by, deductionInput, account, given);
      const amountMicro = positiveMicro(by, input, "topUp adds");
      const { deduct } = ledger;
      if (deduct === undefined) throw keepsNone(by, "deduct");
      await terms.requireAccount(by, account);
      const request = { ...requestOf(input), account, amountMicro };
      return change({ action: "accounts.deduct", ...request }, () =>
        fromLedger(by, () => deduct.call(ledger, request)),
      );
    },
  };
}

function positiveMicro(
  by: string,
  amount: Pick<z.output<typeof deductionInput>, "credits" | "creditsMicro">,
  hint: string,
): Micro {
  const { credits, creditsMicro } = amount;
  if ((credits ?? creditsMicro ?? 1) <= 0) throw new InputError(`${by}: the amount must be positive: ${hint}.`);
  return toCreditsMicro(by, { credits, creditsMicro });
}

function requestOf({ id, by, note }: { id: string } & AuditAuthor): { id: string; by?: string; note?: string } {
  return { id, ...(by !== undefined && { by }), ...(note !== undefined && { note }) };
}

function keepsNone(by: string, method: string): UnsupportedError {
  return new UnsupportedError(`${by}: the gateway's ledger keeps no prepaid credits. Use one that has \`${method}\`.`);
}
