import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { collectGarbage } from "../../support/collect-garbage.js";
import type { OpenStore } from "../benched-store.js";
import { ledgerPair } from "../ledger-pair.js";

export const openMemory: OpenStore = async () => ({
  ledger: memoryCreditLedger(),
  inFlight: 1,
  /** Of a ledger of its own, for the journal of the measured one has grown meanwhile. */
  async bytesPerAccount(accounts) {
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    const ledger = memoryCreditLedger();
    const pair = ledgerPair(ledger);
    for (let account = 0; account < accounts; account++) await pair(`account-${account}`);
    collectGarbage();
    const bytes = process.memoryUsage().heapUsed - before;
    await ledger.close();
    return bytes / accounts;
  },
  async close() {},
});
