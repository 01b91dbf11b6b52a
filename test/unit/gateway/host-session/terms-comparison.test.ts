import { expect, it } from "vitest";
import { AccountTermsLookup } from "../../../../src/gateway/admin/account-terms.js";
import { TermsComparison } from "../../../../src/gateway/identity/identified-callers.js";
import { TimeLimit } from "../../../../src/ledger/guard/time-limit.js";
import { memoryKeyStore } from "../../../../src/stores/memory/memory-stores.js";

const noLookups = { findAllowance: () => undefined, findAccount: undefined };

it("remembers 10,000 accounts, and forgets those that came first", async () => {
  const listed: string[] = [];
  const keys = Object.assign(memoryKeyStore([]), {
    list: async (account: string) => {
      listed.push(account);
      return [];
    },
  });
  const terms = new AccountTermsLookup(keys, noLookups, { now: () => 0 });
  const timeLimit = new TimeLimit(1000);
  const comparison = new TermsComparison({ terms, timeLimit, warnOnce: () => expect.unreachable() });
  const compare = (account: string) => comparison.compare({ account, plan: "pro" }, { plan: "pro", anchor: null });
  for (let index = 0; index < 10_001; index++) compare(`acct_${index}`);
  await new Promise(setImmediate);
  expect(listed).toHaveLength(10_001);
  compare("acct_10000");
  compare("acct_1");
  await new Promise(setImmediate);
  expect(listed).toHaveLength(10_001);
  compare("acct_0");
  await new Promise(setImmediate);
  expect(listed).toHaveLength(10_002);
  timeLimit.close();
});

it("compares nothing of an identity whose terms are those of the keys", () => {
  const keys = Object.assign(memoryKeyStore([]), { list: () => expect.unreachable() });
  const terms = new AccountTermsLookup(keys, noLookups, { now: () => 0 });
  const comparison = new TermsComparison({ terms, timeLimit: new TimeLimit(1000), warnOnce: () => {} });
  comparison.compare({ account: "acct_1" }, { plan: "pro", anchor: null });
});
