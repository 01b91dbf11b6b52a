import { describe, expect, it } from "vitest";
import { LedgerUnavailableError } from "../../../src/ledger/credit-ledger.js";
import { newInstance } from "../../../src/ledger/rules/windows.js";
import { AccountMap } from "../../../src/stores/memory/account.js";

const day = 86_400_000;

/** Adds an account with a month that ends so. */
function add(accounts: AccountMap, account: string, end: number): void {
  accounts.add(account, 0).month = newInstance(-1, end);
}

describe("AccountMap", () => {
  it("looks at so many accounts and no more, going round", () => {
    const accounts = new AccountMap(100);
    for (let index = 0; index < 10; index++) add(accounts, `${index}`, 0);
    for (const left of [8, 6, 4, 2, 0, 0]) {
      accounts.inspect(2, day);
      expect(accounts.size).toBe(left);
    }
  });

  it("drops none that is open, or was within a day", () => {
    const accounts = new AccountMap(100);
    add(accounts, "open", 2 * day);
    add(accounts, "ended", 1);
    add(accounts, "over", 0);
    accounts.inspect(10, day);
    expect([accounts.get("open"), accounts.get("ended"), accounts.get("over")].map(Boolean)).toEqual([
      true,
      true,
      false,
    ]);
  });

  it("finds the one account that is over, wherever the cursor stands", () => {
    for (let cursor = 0; cursor <= 5; cursor++) {
      for (let over = 0; over < 5; over++) {
        const accounts = new AccountMap(5);
        for (let index = 0; index < 5; index++) add(accounts, `${index}`, index === over ? 0 : 9 * day);
        accounts.inspect(cursor, 0);
        accounts.add("new", day).month = newInstance(-1, 9 * day);
        expect(accounts.get(`${over}`)).toBeUndefined();
        expect(() => accounts.add("another", day)).toThrow(LedgerUnavailableError);
      }
    }
  });

  it("stays small while accounts come and go, though it could hold many more", () => {
    const accounts = new AccountMap(1_000_000);
    for (let now = 0; now < 50_000; now++) {
      accounts.inspect(2, now + day);
      add(accounts, `${now}`, now + 100);
    }
    expect(accounts.size).toBeLessThan(1_000);
  });
});
