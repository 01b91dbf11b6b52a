import { describeStorageCare } from "../../../support/ledger/storage/describe-storage-care.js";
import { MemoryStorage } from "../../../support/ledger/storage/memory-storage.js";

describeStorageCare("a storage in memory", (clock) => new MemoryStorage(clock));
