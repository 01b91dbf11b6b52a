import { memoryCreditLedger } from "../../../src/memory/memory-credit-ledger.js";
import { describeModelRun } from "./model-run.js";

describeModelRun("memory", () => ({ make: (clock) => memoryCreditLedger({ clock }), remove() {} }));
