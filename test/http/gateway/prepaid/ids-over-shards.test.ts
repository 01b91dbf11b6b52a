import { afterEach, describe, expect, it } from "vitest";
import { shardedLedger } from "../../../../src/ledger/sharded-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

let test: TestGateway;
afterEach(() => test.close());

/** As a ledger outside the process: the gateway guards it. */
const remote = () => ({ ...memoryCreditLedger() });

describe("the id of a payment, with a ledger of several that are guarded", () => {
  it("tops up one account alone", async () => {
    const shardOf = (account: string) => (account === "acct_pro" ? "one" : "two");
    test = await startTestGateway({ ledger: shardedLedger({ shards: { one: remote(), two: remote() }, shardOf }) });
    const { accounts } = test.gateway;
    await accounts.topUp("acct_pro", { id: "payment", credits: 5 });
    const other = accounts.topUp("acct_basic", { id: "payment", credits: 5 });
    await expect(other).rejects.toThrow("payment was used before with another account.");
    const taken = accounts.deduct("acct_basic", { id: "payment", credits: 5 });
    await expect(taken).rejects.toThrow("payment was used before with another account.");
    expect((await accounts.balance("acct_basic")).prepaid).toBeUndefined();
    expect((await accounts.topUp("acct_pro", { id: "payment", credits: 5 })).balanceMicro).toBe(5_000_000);
  });
});
