import type { Gateway } from "infergate";

/** Who calls with a key, and how often. */
export interface Caller {
  readonly account: string;
  readonly key: string;
  readonly keyId: string;
  readonly models: readonly string[];
  /** Calls a day, about. */
  readonly perDay: number;
}

const both = ["acme/small", "acme/large"];

/**
 * Customers beside the one that the demo signs in: with keys, members, prepaid credits, and one that is suspended.
 * @param own - the key of the demo's own account.
 */
export async function makeCompany(gateway: Gateway, own: { key: string; account: string }): Promise<Caller[]> {
  await gateway.plans.put({ id: "team", models: ["acme/*"], credits: { session: 200, week: 800, month: 2_000 } });
  for (const [id, plan] of Object.entries(accounts)) await gateway.accounts.put({ id, plan }, { note: "Signed up" });
  await gateway.accounts.topUp("kite-labs", { id: "invoice_1042", credits: 50, note: "Paid by card" });
  await gateway.budgets.put("nordwind", { tag: "member", value: "ada", credits: { month: 80 } });
  await gateway.budgets.put("nordwind", { tag: "member", value: "ben", credits: { day: 4, month: 40 } });
  const make = async (account: string, name: string, perDay: number, more: object = {}): Promise<Caller> => {
    const { id, secret } = await gateway.keys.create({ account, name, ...more });
    return { account, key: secret, keyId: id, models: both, perDay };
  };
  const [known] = await gateway.keys.list(own.account);
  return [
    { ...own, keyId: known?.id ?? "", models: ["acme/small"], perDay: 2 },
    await make(own.account, "Laptop", 1),
    await make("nordwind", "Search backend", 14, { tags: { project: "search" } }),
    await make("nordwind", "Ada’s editor", 8, { tags: { member: "ada" } }),
    await make("nordwind", "Ben’s notebook", 3, { tags: { member: "ben" }, credits: { day: 3 } }),
    await make("kite-labs", "Production", 12),
    await make("kite-labs", "CI", 6, { models: ["acme/small"] }),
    await make("paperplane", "Prototype", 3),
    await make("lighthouse", "Trial", 1),
  ];
}

const accounts: Readonly<Record<string, string>> = {
  nordwind: "team",
  "kite-labs": "team",
  paperplane: "starter",
  lighthouse: "starter",
};
