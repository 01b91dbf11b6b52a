import { describeCreditLedger } from "../../../src/testing/describe-credit-ledger.js";
import { describeCreditLedgerModel } from "../../contracts/credit-ledger-model.js";
import { ledgerOver } from "./storage-fixture.js";

describeCreditLedger("a ledger over a storage", (clock) => ledgerOver(clock), { limits: true });
describeCreditLedgerModel("a ledger over a storage", (clock) => ledgerOver(clock));
