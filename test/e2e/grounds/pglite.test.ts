import { postgresOn } from "../../contract/stores/postgres.js";
import { describeOnStore } from "../../contract/stores/store-under-test.js";
import { type Lite, newLite } from "./installed.js";

let database: Lite;
const { start, ...store } = postgresOn("PGlite, in memory", () => [database, database]);

// It is a pool as it is, and listens.
describeOnStore({
  ...store,
  async start() {
    database = await newLite();
    await start();
  },
  stop: () => database.close(),
});
