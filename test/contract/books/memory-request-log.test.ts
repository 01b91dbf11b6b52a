import { memoryRequestLog } from "../../../src/stores/memory/memory-request-log.js";
import { describeRequestLog } from "../../../src/testing/request-log/describe-request-log.js";

describeRequestLog("memoryRequestLog", memoryRequestLog);
