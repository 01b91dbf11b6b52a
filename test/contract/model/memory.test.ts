import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { describeModelRun } from "./model-run.js";

describeModelRun("memory", () => ({ make: (clock) => memoryCreditLedger({ clock }), remove() {} }));
