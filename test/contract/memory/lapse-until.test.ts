import { afterEach, expect, it, vi } from "vitest";
import { Account } from "../../../src/stores/memory/account.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { busyAccount } from "../contracts/busy-account.js";

afterEach(() => vi.restoreAllMocks());

it("operations do not each look at all open calls while one of them needs what has expired", async () => {
  const { account, before } = await busyAccount((clock) => memoryCreditLedger({ clock }), 50);
  const looks = vi.spyOn(Account.prototype, "holds", "get");
  for (let operation = 0; operation < 20; operation++) await account.ledger.reset(account.id, []);
  expect(looks).not.toHaveBeenCalled();
  await account.ledger.release(before);
  await account.ledger.reset(account.id, []);
  expect(looks).toHaveBeenCalledTimes(1);
});
