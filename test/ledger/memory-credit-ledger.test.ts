import { memoryCreditLedger } from "../../src/ledger/memory-credit-ledger.js";
import { describeCreditLedger } from "../contracts/credit-ledger.js";

describeCreditLedger("memoryCreditLedger", (clock) => memoryCreditLedger({ clock }));
