import { expect, it } from "vitest";
import { UnknownAccountError } from "../../../../src/index.js";
import { memoryAccountStore } from "../../../../src/stores/memory/memory-stores.js";
import { withBudgets } from "./start-budgets.js";

const budget = { tag: "member", credits: { month: 20 } };

it(
  "a budget of an account with neither a record nor keys is refused: it would limit nobody",
  withBudgets({ accounts: memoryAccountStore([{ id: "acme", plan: "pro" }]) }, async ({ gateway, keyOf }) => {
    const put = gateway.budgets.put("acmee", budget);
    await expect(put).rejects.toBeInstanceOf(UnknownAccountError);
    await expect(put).rejects.toMatchObject({ status: 404, message: expect.stringContaining('"acmee"') });
    expect(await gateway.budgets.list("acmee")).toEqual({ budgets: [] });

    await gateway.budgets.put("acme", budget);
    await keyOf(undefined, "keys only");
    await gateway.budgets.put("keys only", budget);
    expect((await gateway.budgets.list("keys only")).budgets).toEqual([budget]);
  }),
);

it(
  "without an account store, any account may have one",
  withBudgets({}, async ({ gateway }) => {
    await gateway.budgets.put("acmee", budget);
    expect((await gateway.budgets.list("acmee")).budgets).toEqual([budget]);
  }),
);
