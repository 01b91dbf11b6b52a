import { hashKey } from "../../../src/keys/hash-key.js";
import type { StoredKey } from "../../../src/keys/key-store.js";
import type { Books, StoresOfVersion } from "../books.js";
import type { Landed } from "./landed.js";

const createdAt = 1_773_221_400_000;

/** What later versions know of a key, too. */
function newerMembers(known: Landed["keys"]): Partial<StoredKey> {
  if (known === undefined) return {};
  const members = { enabled: false, metadata: { team: "search", größer: "'\n" } };
  if (known === "metadata") return members;
  return { ...members, credits: { day: 5, total: 100 }, rates: { requestsPerMinute: 60 }, lineage: "key_0" };
}

/** Lets a version write keys, a plan, and what it knows of accounts and responses. */
export async function writeRecords(
  { keys, plans, accounts, responses, budgets, catalog }: StoresOfVersion,
  known: Landed["keys"],
): Promise<Pick<Books, "keys" | "plan" | "accounts" | "responses" | "budgets" | "models">> {
  const owner = { account: "owner", plan: "pro" };
  await keys.insert({ id: "key_few", hash: hashKey("sk-few"), hint: "sk-…few", ...owner, createdAt });
  await keys.insert({
    ...{ id: "key_full", hash: hashKey("sk-full"), hint: "sk-…full", ...owner, createdAt: createdAt + 1 },
    ...{ name: 'Ann\'s "first" key; größer \u{1f600}', models: ["acme/*", "o'neill/100%"], anchor: -29_253_600_000 },
    ...{ expiresAt: 4_102_444_800_000, revokedAt: 4_102_444_700_000, ...newerMembers(known) },
  });
  const plan = {
    id: "pro",
    models: ["acme/*"],
    credits: { session: 100, week: null, month: 1_500 },
    sessionMs: 3_600_000,
  };
  await plans.put(plan);
  if (accounts !== undefined) {
    await accounts.put({ id: "owner", plan: "pro", anchor: createdAt, metadata: { customer: "cus_1'", seats: 3 } });
    await accounts.put({ id: "suspended", plan: "pro", status: "suspended", message: "Pay 'first';\n\u{1f600}" });
  }
  if (responses !== undefined) {
    const response = (id: string, previousResponseId?: string) => ({
      ...{ id, account: "owner", createdAt, previousResponseId, response: JSON.stringify({ id, object: "response" }) },
      input: [{ id: `${id}_in`, json: JSON.stringify({ id: `${id}_in`, text: "größer" }) }],
      output: [{ id: `${id}_out`, json: JSON.stringify({ id: `${id}_out` }) }],
    });
    await responses.put(response("resp_1"));
    await responses.put(response("resp_2", "resp_1"));
  }
  await budgets?.put("owner", { tag: "member", credits: { month: 50 }, rates: { requestsPerMinute: 60 } });
  await budgets?.put("owner", {
    tag: "member",
    value: "größer=42 \u{1f600}",
    status: "suspended",
    message: "Ask Ann.",
  });
  await catalog?.put({ id: "acme/small", type: "chat", price: { input: 0.1, output: 2 }, text: "größer \ud83d\0" });
  await catalog?.put({ id: "o'neill/100%" });
  const chain = await responses?.findChain("owner", "resp_2", 10);
  return {
    keys: await keys.list("owner"),
    plan: (await plans.find("pro")) ?? plan,
    ...(accounts && { accounts: (await accounts.list()).accounts }),
    ...(chain && { responses: chain }),
    ...(budgets && { budgets: (await budgets.list("owner")).budgets }),
    ...(catalog && { models: await catalog.list() }),
  };
}
