import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { describeCreditLedgerModel } from "../contracts/credit-ledger-model.js";

describeCreditLedgerModel("memoryCreditLedger", (clock) => memoryCreditLedger({ clock }));
