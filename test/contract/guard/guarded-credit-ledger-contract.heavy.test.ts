import type { Clock } from "../../../src/ledger/calendar.js";
import type { GuardOptions } from "../../../src/ledger/guard/guarded-credit-ledger.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { faultyLedger } from "../../support/guard/faulty-ledger.js";
import { guarded } from "../../support/guard/guarded.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";

const make = (options: Partial<GuardOptions>) => (clock: Clock) =>
  guarded(faultyLedger(memoryCreditLedger({ clock })), { clock, ...options }).guard;

describeCreditLedger("GuardedCreditLedger", make({}), { limits: true });
// The model reserves one id several times, which a remembered denial would keep from the ledger.
describeCreditLedgerModel("GuardedCreditLedger", make({ denialCacheMs: 0 }), { runs: 50 });
