import { hashKey } from "infergate";
import { closeStores, stores } from "./stores.ts";

// Makes the tables, a plan, and a key unless there is one. Run it before the first deployment.
const key = process.env.DEMO_KEY ?? "sk-demo";

await stores.migrate();
await stores.plans.put({ id: "pro", models: ["acme/*"], credits: { session: 100, week: 500, month: 1500 } });
if (!(await stores.keys.find(hashKey(key)))) {
  await stores.keys.insert({
    id: "key_demo",
    hash: hashKey(key),
    hint: `${key.slice(0, 5)}…`,
    account: "acct_1",
    plan: "pro",
    createdAt: Date.now(),
  });
}
await closeStores();
