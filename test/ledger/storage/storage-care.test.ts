import { describeStorageCare } from "./describe-storage-care.js";
import { MemoryStorage } from "./memory-storage.js";

describeStorageCare("a storage in memory", (clock) => new MemoryStorage(clock));
