import { upstash } from "../stores/redis.js";
import { describeOnStore } from "../stores/store-under-test.js";

describeOnStore(upstash());
