import { MemoryRecordStore } from "../../../src/stores/memory/memory-record-store.js";
import { describeRecordStore } from "../contracts/describe-record-store.js";

const shared = new MemoryRecordStore();
describeRecordStore("MemoryRecordStore", () => [shared, shared]);
