import { sqlite } from "../stores/sqlite.js";
import { describeOnStore } from "../stores/store-under-test.js";
import { drivers } from "./open-database.js";

for (const driver of Object.keys(drivers)) describeOnStore(sqlite(driver));
