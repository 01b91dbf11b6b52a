import { memoryRequestLog } from "../../src/memory/memory-request-log.js";
import { describeRequestLog } from "../../src/testing/describe-request-log.js";

describeRequestLog("memoryRequestLog", memoryRequestLog);
