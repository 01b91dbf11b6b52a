import { expect } from "vitest";
import type { Balance, CreditLedger, Lease } from "../../../src/ledger/credit-ledger.js";
import { hashKey } from "../../../src/records/keys/managed-key.js";
import {
  type BookedStores,
  type Books,
  busy,
  forgotten,
  limitsOf,
  namedLimits,
  prepaid,
  reset,
  windowed,
} from "./books.js";

/** The stores have all that a version has left, and go on with what it had begun. The clock stands at `books.at`. */
export async function expectBooks(stores: BookedStores, books: Books): Promise<void> {
  await expectLeft(stores.ledger, books);
  await expectRecords(stores, books);
  await expectLeasesToEnd(stores.ledger, books);
  await expectPrepaidToEnd(stores.ledger, books);
  await expectSums(stores.ledger, books);
  await expectStatements(stores.ledger, books);
  await expectToGoOn(stores.ledger, books);
}

function balanceOf(ledger: CreditLedger, account: string, { at }: Books): Promise<Balance> {
  return ledger.balance(account, limitsOf(account, at), account === prepaid ? namedLimits(at) : undefined);
}

async function expectLeft(ledger: CreditLedger, books: Books): Promise<void> {
  for (const [account, { windows, prepaid, caps }] of Object.entries(books.balances)) {
    const credits = { windows, ...(prepaid && { prepaid }), ...(caps && { caps }) };
    expect(await balanceOf(ledger, account, books), account).toMatchObject(credits);
  }
  for (const [account, entries] of Object.entries(books.history)) {
    const kept = (await ledger.history?.({ account }))?.entries ?? [];
    // What has come after them are the checkpoints of calls whose lease is over.
    expect(kept.slice(kept.length - entries.length), account).toMatchObject(
      entries.map(({ sequence: _, ...entry }) => entry),
    );
  }
}

async function expectRecords(stores: BookedStores, books: Books) {
  const { keys, plans, accounts, responses } = stores;
  const plain = (record: object) => Object.fromEntries(Object.entries(record).filter(([, value]) => value != null));
  expect(await keys.list("owner")).toMatchObject(books.keys.map(plain));
  expect(await keys.find(hashKey("sk-few"))).toMatchObject({ id: "key_few" });
  expect(await keys.update("key_few", { name: "few", metadata: { team: "new" } })).toMatchObject({ name: "few" });
  expect(await plans.find("pro")).toEqual(books.plan);
  expect((await accounts.list()).accounts).toMatchObject(books.accounts.map(plain));
  await accounts.put({ id: "owner", plan: "basic" });
  expect(await accounts.update("owner", { status: "suspended" })).toMatchObject({ plan: "basic", status: "suspended" });
  expect(await responses.findChain("owner", "resp_2", 10)).toEqual(books.responses);
  await responses.put({
    ...{ id: "resp_new", account: "owner", createdAt: books.at, previousResponseId: undefined },
    ...{ response: "{}", input: [], output: [] },
  });
  expect(await responses.find("owner", "resp_new")).toMatchObject({ id: "resp_new" });
  await expectCatalog(stores, books);
}

/** Budgets and models. A version that has been read before the update is the same after it. */
async function expectCatalog({ budgets, modelStore }: BookedStores, books: Books): Promise<void> {
  expect((await budgets.list("owner")).budgets).toEqual(books.budgets);
  expect(await modelStore.list()).toEqual(books.models);
  await budgets.put("owner", { tag: "member", value: "7" });
  expect(await budgets.find("owner", { member: "7" })).toEqual([{ tag: "member", value: "7" }]);
  await budgets.forget("owner");
  expect((await budgets.list("owner")).budgets).toEqual([]);
  const { version = null } = books.models[0] ?? {};
  await modelStore.put({ id: "acme/small", type: "images" }, { expected: version });
  expect((await modelStore.find("acme/small"))?.model).toEqual({ id: "acme/small", type: "images" });
}

/** Leases as a process that goes on has them. */
async function expectLeasesToEnd(ledger: CreditLedger, books: Books): Promise<void> {
  const lease = (id: string): Lease => books.leases[id] as Lease;
  const used = books.balances[windowed]?.windows.session.usedMicro ?? Number.NaN;
  expect(await ledger.settle(lease("ended"), { amountMicro: 250 })).toMatchObject({ status: "duplicate" });
  expect(await ledger.release(lease("released"))).toMatchObject({ status: "duplicate" });
  expect(await ledger.renew([{ lease: lease("open"), observedMicro: 130, leaseMs: 60_000 }])).toEqual(["renewed"]);
  const { id, account, amountMicro } = lease("open");
  const again = await ledger.reserve({
    id,
    account,
    amountMicro,
    limits: limitsOf(account, books.at),
    leaseMs: 60_000,
  });
  expect(again).toMatchObject({ ok: true, replayed: true, lease: { expiresAt: lease("open").expiresAt } });
  expect(await ledger.settle(lease("open"), { amountMicro: 150 })).toMatchObject({ status: "settled" });
  expect(await ledger.settle(lease("due"), { amountMicro: 80 })).toMatchObject({ status: "late" });
  expect(await ledger.settle(lease("expired"), { amountMicro: 61 })).toMatchObject({ status: "late" });
  expect(await ledger.settle(lease("expired"), { amountMicro: 61 })).toMatchObject({ status: "duplicate" });
  // Beyond the checkpoints of the two that were late.
  const { windows } = await balanceOf(ledger, windowed, books);
  expect(windows.session).toMatchObject({ usedMicro: used + 150 + (80 - 35) + (61 - 60), heldMicro: 0 });
  expect(windows.week).toMatchObject({ usedMicro: used + 196, heldMicro: 0, bonusMicro: 70 });

  const grant = { id: "grant", account: windowed, window: "week", amountMicro: 70 } as const;
  const granted = await ledger.grant({ ...grant, limits: limitsOf(windowed, books.at), note: "sorry" });
  expect(granted.week).toMatchObject({ bonusMicro: 70 });
  expect(await ledger.settle(lease("forgotten"), { amountMicro: 5 })).toMatchObject({ status: "duplicate" });
  expect((await ledger.history?.({ account: forgotten }))?.entries).toEqual([]);
}

async function expectPrepaidToEnd(ledger: CreditLedger, books: Books): Promise<void> {
  const payment = { id: "payment 2", account: prepaid, amountMicro: 500 };
  expect(await ledger.topUp?.(payment)).toMatchObject({ balanceMicro: 620, heldMicro: 200 });
  const paying = books.leases["paying"] as Lease;
  expect(paying.prepaidAt).toBeDefined();
  const charged = await ledger.settle(paying, { amountMicro: 130, rates: [{ id: "key_1/tokens", actual: 9 }] });
  expect(charged).toMatchObject({ status: "settled", prepaid: { balanceMicro: 490, heldMicro: 0 } });
  // The lot that ends first is used first.
  expect(charged.prepaid?.lots).toMatchObject([{ expiresAt: null, leftMicro: 490 }]);
  const { caps, rates } = await balanceOf(ledger, prepaid, books);
  expect(caps).toMatchObject([{ usedMicro: 410, heldMicro: 0 }]);
  expect(rates?.[1]).toMatchObject({ remaining: 5 });
}

/** The sums are those of the journal, whoever wrote it. */
async function expectSums(ledger: CreditLedger, { balances, history, at }: Books): Promise<void> {
  if (ledger.usage === undefined) return;
  const used = { windowed: 541, reset: 15, prepaid: 410, busy: 300 };
  for (const account of Object.keys(balances).filter((name) => name !== forgotten)) {
    for (const range of [{}, { from: at - 86_400_000 + 1 }, { to: at + 1 }]) {
      const sums = await ledger.usage({ account, by: ["model", "team"], ...range });
      const charged = sums.reduce((sum, { chargedMicro }) => sum + chargedMicro, 0);
      expect(charged, `${account} ${JSON.stringify(range)}`).toBe(used[account as keyof typeof used]);
      const tagged = sums.filter(({ by }) => by["team"] === "red");
      expect(tagged).toMatchObject(history[account]?.some(({ tags }) => "tag.team" in tags) ? [{ requests: 1 }] : []);
    }
  }
}

/** Statements and filters find all that is in the journal, whoever wrote it. */
async function expectStatements(ledger: CreditLedger, books: Books): Promise<void> {
  for (const account of Object.keys(books.balances)) {
    const statement = await ledger.statement?.({ account });
    const { prepaid } = await balanceOf(ledger, account, books);
    const balances = [statement?.prepaid.openingMicro, statement?.prepaid.closingMicro];
    expect(balances, account).toEqual([0, prepaid?.balanceMicro ?? 0]);
    const { entries = [] } = (await ledger.history?.({ account, limit: 1_000 })) ?? {};
    for (const kinds of [
      ["checkpoint", "grant", "reset", "topup"],
      ["charge", "grant"],
    ] as const) {
      const asked = await ledger.history?.({ account, kinds, limit: 1_000 });
      const isOne = ({ kind }: { kind: string }) => (kinds as readonly string[]).includes(kind);
      expect(asked?.entries, `${account} ${kinds}`).toEqual(entries.filter(isOne));
    }
    for (const wanted of new Set(entries.slice(0, 20).map(({ id }) => id))) {
      const asked = await ledger.history?.({ account, id: wanted });
      expect(asked?.entries, `${account} ${wanted}`).toEqual(entries.filter(({ id }) => id === wanted));
    }
  }
}

async function expectToGoOn(ledger: CreditLedger, { at }: Books): Promise<void> {
  const begin = async (account: string, amountMicro: number) => {
    const result = await ledger.reserve({
      ...{ id: `new ${account}`, account, amountMicro, leaseMs: 60_000, limits: limitsOf(account, at) },
      ...(account === prepaid && namedLimits(at)),
    });
    if (!result.ok) throw new Error(`${account} is denied.`);
    return result.lease;
  };
  await ledger.topUp?.({ id: "payment new", account: prepaid, amountMicro: 60 });
  for (const account of [windowed, reset, forgotten, prepaid]) {
    const lease = await begin(account, 40);
    expect(await ledger.renew([{ lease, observedMicro: 5, leaseMs: 60_000 }])).toEqual(["renewed"]);
    expect(await ledger.settle(lease, { amountMicro: 30 })).toMatchObject({ status: "settled" });
  }
  await ledger.forget(busy);
  await ledger.reset(windowed, ["session"]);
  await ledger.forget(windowed);
  for (const account of [busy, windowed]) {
    expect((await ledger.history?.({ account }))?.entries).toEqual([]);
    expect((await ledger.usage?.({ account, by: ["model"] })) ?? []).toEqual([]);
  }
}
