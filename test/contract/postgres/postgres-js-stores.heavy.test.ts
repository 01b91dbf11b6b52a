import { postgres } from "../stores/postgres.js";
import { describeOnStore } from "../stores/store-under-test.js";

describeOnStore(postgres("postgres.js"));
