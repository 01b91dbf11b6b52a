import type { AccountRecord, AccountStore } from "../records/accounts/account-store.js";
import { expect } from "./expect.js";
import { type TestRunner, testRunnerOf } from "./test-runner.js";

/**
 * Defines the tests that every {@link AccountStore} must pass.
 *
 * @param make - makes a store that holds these accounts, and no others.
 * @param runner - default: see {@link TestRunner}.
 */
export function describeAccountStore(
  name: string,
  make: (accounts: readonly AccountRecord[]) => Promise<AccountStore> | AccountStore,
  runner?: TestRunner,
): void {
  const { describe, it } = testRunnerOf(runner);
  describe(`${name}: the account store contract`, () => {
    const anchor = Date.UTC(2026, 0, 31, 10);
    const active: AccountRecord = {
      id: "acct_1",
      plan: "pro",
      anchor,
      rates: { concurrent: 2 },
      models: ["acme/*"],
      priceFactor: 0.8,
    };
    const suspended: AccountRecord = { id: "acct_2", plan: "basic", status: "suspended", message: "Pay first." };

    it("finds an account by its id, with what counts for its requests", async () => {
      const store = await make([active, suspended]);
      const found = await store.find("acct_1");
      expect(found).toMatchObject({ plan: "pro", rates: { concurrent: 2 }, models: ["acme/*"], priceFactor: 0.8 });
      expect(new Date(found?.anchor ?? Number.NaN).getTime()).toBe(anchor);
      expect(found?.status ?? "active").toBe("active");
      expect(await store.find("acct_2")).toMatchObject({ plan: "basic", status: "suspended", message: "Pay first." });
    });

    it("leaves out what an account does not have", async () => {
      const found = await (await make([{ id: "acct_3", plan: "pro" }])).find("acct_3");
      expect(found).toMatchObject({ plan: "pro" });
      for (const member of ["anchor", "message", "metadata", "rates", "models", "priceFactor"] as const)
        expect(found?.[member] ?? null).toBeNull();
    });

    it.each(["none", "ACCT_1", "__proto__", "constructor", ""])("finds nothing for %j", async (id) => {
      expect((await (await make([active])).find(id)) ?? null).toBeNull();
    });
  });
}
