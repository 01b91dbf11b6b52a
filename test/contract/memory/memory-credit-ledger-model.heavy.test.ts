import { memoryCreditLedger } from "../../../src/memory/memory-credit-ledger.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";

describeCreditLedgerModel("memoryCreditLedger", (clock) => memoryCreditLedger({ clock }));
