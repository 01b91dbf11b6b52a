import { hashKey } from "../../../src/records/keys/managed-key.js";
import type { BookedStores, Books } from "./books.js";

const createdAt = 1_773_221_400_000;

/** Writes keys, a plan, accounts, responses, budgets and models. */
export async function writeRecords({
  keys,
  plans,
  accounts,
  responses,
  budgets,
  modelStore,
}: BookedStores): Promise<Pick<Books, "keys" | "plan" | "accounts" | "responses" | "budgets" | "models">> {
  const owner = { account: "owner", plan: "pro" };
  await keys.insert({ id: "key_few", hash: hashKey("sk-few"), hint: "sk-…few", ...owner, createdAt });
  await keys.insert({
    ...{ id: "key_full", hash: hashKey("sk-full"), hint: "sk-…full", ...owner, createdAt: createdAt + 1 },
    ...{ name: 'Ann\'s "first" key; größer \u{1f600}', models: ["acme/*", "o'neill/100%"], anchor: -29_253_600_000 },
    ...{ expiresAt: 4_102_444_800_000, revokedAt: 4_102_444_700_000, enabled: false },
    ...{ metadata: { team: "search", größer: "'\n" }, credits: { day: 5, total: 100 } },
    ...{ rates: { requestsPerMinute: 60 }, tags: { team: "red" }, lineage: "key_0" },
  });
  const plan = {
    id: "pro",
    models: ["acme/*"],
    credits: { session: 100, week: null, month: 1_500 },
    sessionMs: 3_600_000,
  };
  await plans.put(plan);
  await accounts.put({ id: "owner", plan: "pro", anchor: createdAt, metadata: { customer: "cus_1'", seats: 3 } });
  await accounts.put({
    ...{ id: "suspended", plan: "pro", status: "suspended", message: "Pay 'first';\n\u{1f600}" },
    ...{ rates: { requestsPerMinute: 60 }, models: ["acme/*"], priceFactor: 1.25 },
  });
  const response = (id: string, previousResponseId?: string) => ({
    ...{ id, account: "owner", createdAt, previousResponseId, response: JSON.stringify({ id, object: "response" }) },
    input: [{ id: `${id}_in`, json: JSON.stringify({ id: `${id}_in`, text: "größer" }) }],
    output: [{ id: `${id}_out`, json: JSON.stringify({ id: `${id}_out` }) }],
  });
  await responses.put(response("resp_1"));
  await responses.put(response("resp_2", "resp_1"));
  await budgets.put("owner", { tag: "member", credits: { month: 50 }, rates: { requestsPerMinute: 60 } });
  await budgets.put("owner", {
    tag: "member",
    value: "größer=42 \u{1f600}",
    status: "suspended",
    message: "Ask Ann.",
  });
  await modelStore.put({ id: "acme/small", type: "chat", price: { input: 0.1, output: 2 }, text: "größer \ud83d\0" });
  await modelStore.put({ id: "o'neill/100%" });
  return {
    keys: await keys.list("owner"),
    plan: (await plans.find("pro")) ?? plan,
    accounts: (await accounts.list()).accounts,
    responses: (await responses.findChain("owner", "resp_2", 10)) ?? [],
    budgets: (await budgets.list("owner")).budgets,
    models: await modelStore.list(),
  };
}
