import { afterEach, describe, expect, it } from "vitest";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryAccountStore } from "../../../../src/stores/memory/memory-stores.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway;
afterEach(() => test.close());

describe("a top-up", () => {
  it.each([
    [{ credits: 0.000_000_5 }, "whole number of micro-credits"],
    [{ credits: 100_000.000_000_1 }, "whole number of micro-credits"],
    [{ creditsMicro: 1.5 }, "whole number of micro-credits"],
    [{ creditsMicro: (0.1 + 0.2) * 1_000_000 }, "whole number of micro-credits"],
    [{ credits: 0 }, "must be positive: deduct takes back what was sold"],
    [{ creditsMicro: -1 }, "must be positive: deduct takes back what was sold"],
    [{ credits: 1, creditsMicro: 1_000_000 }, "not both"],
    [{}, "give `credits`"],
    [{ credits: 1e10 }, "at most 9007199254."],
    [{ amountMicro: 5 }, "amountMicro"],
    [{ credits: 1, expiresAt: "soon" }, "expiresAt"],
  ])("of %o is a TypeError", async (given, problem) => {
    test = await startTestGateway();
    const topUp = test.gateway.accounts.topUp("acct_pro", { id: "a", ...given } as never);
    await expect(topUp).rejects.toThrow(TypeError);
    await expect(topUp).rejects.toThrow(problem);
  });

  it("never ends where its end is null", async () => {
    test = await startTestGateway();
    const { lots } = await test.gateway.accounts.topUp("acct_pro", { id: "a", credits: 1, expiresAt: null });
    expect(lots).toEqual([{ expiresAt: null, leftMicro: 1_000_000 }]);
  });

  it.each([
    ["0.1 + 0.2", 0.1 + 0.2, 300_000],
    ["3 * 0.07", 3 * 0.07, 210_000],
    ["1.1 * 1.1", 1.1 * 1.1, 1_210_000],
    ["0.8 - 0.1", 0.8 - 0.1, 700_000],
    [
      "ten thousand prices",
      Array<number>(10_000)
        .fill(0.04)
        .reduce((sum, price) => sum + price),
      400_000_000,
    ],
  ])("of %s credits is what a person would get", async (_name, credits, micro) => {
    test = await startTestGateway();
    await test.gateway.accounts.topUp("acct_pro", { id: "a", credits });
    expect((await test.gateway.accounts.balance("acct_pro")).prepaid?.balanceMicro).toBe(micro);
  });

  it("counts decimals as they are written", async () => {
    test = await startTestGateway();
    for (const [index, credits] of [0.1, 0.2, 0.000_001, 1.005].entries()) {
      await test.gateway.accounts.topUp("acct_pro", { id: `a${index}`, credits });
    }
    expect((await test.gateway.accounts.balance("acct_pro")).prepaid?.balanceMicro).toBe(1_305_001);
  });

  it("is refused where the ledger keeps no prepaid credits", async () => {
    const { topUp: _, ...ledger } = memoryCreditLedger();
    test = await startTestGateway({ ledger });
    const topUp = test.gateway.accounts.topUp("acct_pro", { id: "a", credits: 1 });
    await expect(topUp).rejects.toThrow("keeps no prepaid credits");
  });

  it("is refused for an account that the account store does not know, and that has no keys", async () => {
    test = await startTestGateway({ accounts: memoryAccountStore() });
    const { accounts } = test.gateway;
    await expect(accounts.topUp("acct_typo", { id: "a", credits: 1 })).rejects.toMatchObject({
      status: 404,
      message: expect.stringMatching(/neither a record nor keys. Make it with gateway.accounts.put/),
    });
    await accounts.topUp("acct_pro", { id: "a", credits: 1 });
    await accounts.put({ id: "acct_new", plan: "pro" });
    await accounts.topUp("acct_new", { id: "b", credits: 1 });
  });

  it("tells a webhook by a status what to respond with", async () => {
    test = await startTestGateway();
    const topUp = (of: { credits: number }) => test.gateway.accounts.topUp("acct_pro", { id: "payment_1", ...of });
    await topUp({ credits: 1 });
    await expect(topUp({ credits: 2 })).rejects.toMatchObject({ name: "LedgerConflictError", status: 409 });
    await expect(
      test.gateway.accounts.topUp("acct_pro", { id: "payment_2", credits: 1, expiresAt: 0 }),
    ).rejects.toMatchObject({ name: "LedgerInputError", status: 400 });
    await expect(test.gateway.keys.revoke("no_such_key")).rejects.toMatchObject({ status: 404 });
  });
});
