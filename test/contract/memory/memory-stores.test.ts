import { memory } from "../stores/memory.js";
import { describeOnStore } from "../stores/store-under-test.js";

describeOnStore(memory());
