import { afterAll, expect, it } from "vitest";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import { sqliteStores } from "../../../src/stores/sqlite/sqlite-stores.js";
import { wholeAnswer } from "../../../src/testing.js";
import { chatRequest, startTestGateway } from "../../support/test-gateway.js";
import { DatabaseFolder } from "./open-database.js";

const folder = new DatabaseFolder();
afterAll(() => folder.remove());

async function call(options: ReturnType<typeof sqliteStores>): Promise<Response> {
  const { gateway, upstream, close } = await startTestGateway(options);
  upstream.reply(wholeAnswer());
  const response = await gateway.handler(chatRequest({}, "sk-stored"));
  await response.text();
  await close();
  return response;
}

it("a gateway keeps keys, plans and credits in a file, and goes on with them after a restart", async () => {
  const stores = sqliteStores({ database: folder.open() });
  const { keys, plans, ledger } = stores;
  const key = { id: "key_1", hash: hashKey("sk-stored"), hint: "sk-…", account: "a", plan: "tiny", createdAt: 1 };
  await keys.insert(key);
  await plans.put({ id: "tiny", models: ["acme/*"], credits: { month: 0.000001 } });
  expect((await call(stores)).status).toBe(200);

  const again = await call(sqliteStores({ database: folder.open() }));
  expect([again.status, again.headers.get("x-should-retry")]).toEqual([429, "false"]);
  const page = await ledger.history?.({ account: "a" });
  expect(page?.entries).toMatchObject([{ kind: "charge", tags: { keyId: "key_1", model: "acme/small" } }]);
});
