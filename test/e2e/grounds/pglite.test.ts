import { afterAll, beforeAll, describe } from "vitest";
import { describeStores } from "./describe-stores.js";
import { type Lite, newLite } from "./installed.js";

describe("PGlite, in memory", () => {
  let database: Lite;
  beforeAll(async () => {
    database = await newLite();
  }, 120_000);
  afterAll(() => database.close());

  // It is a pool as it is, and listens.
  describeStores("PGlite", () => database);
});
