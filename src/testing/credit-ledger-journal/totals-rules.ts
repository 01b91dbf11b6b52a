import type { TotalsFilter, TotalsRequest } from "../../ledger/usage/usage-request.js";
import { TotalSums } from "../../ledger/usage/usage-sums.js";
import { day, expectInputError, type Fixture, hour, minute, second, start, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { entriesOf, type JournalIt } from "./journal-tests.js";

/** What totals are added up by, as they are compared with the journal. */
const dimensions: readonly (readonly string[])[] = [
  [],
  ["account"],
  ["plan", "model", "target", "key"],
  ["funding", "tag.team"],
  ["tag.team", "model", 'tag.a"b'],
  // Tags that are named as what is no tag.
  ["tag.day", "tag.account"],
  ["model", "tag.model", "tag.funding"],
];

/** The totals of accounts must be those of their journals. A ledger without `totals` passes it by. */
async function expectTotalsToMatch(
  { ledger }: Pick<Fixture, "ledger">,
  accounts: readonly string[],
  periods: readonly number[],
  where: TotalsFilter = { account: accounts },
): Promise<void> {
  for (const by of dimensions) {
    const request: TotalsRequest = { periods, by, where };
    const kept = await ledger.totals?.(request);
    if (kept === undefined) return;
    const [sums, expected] = [new TotalSums(request), new TotalSums(request)];
    for (const total of kept) sums.add(total);
    for (const id of accounts) {
      for (const entry of await entriesOf({ ledger, id }, { limit: 1_000 })) expected.addEntry(id, entry);
    }
    expect({ by, totals: sums.list() }).toEqual({ by, totals: expected.list() });
  }
}

/** The usage of several accounts, by periods. */
export function describeTotals(journalIt: JournalIt): void {
  const tokens = { input: 5, cachedInput: 1, output: 7, reasoning: 2 };
  const spend = async (
    { ledger, admit }: { ledger: Fixture["ledger"]; admit: Fixture["admit"] },
    account: string,
    amountMicro: number,
    tags: Record<string, string | number>,
  ) => ledger.settle(await admit(amountMicro, { account }), { amountMicro, tags: { ...tokens, ...tags } });

  /** Calls of three accounts, three hours apart, for a little more than four days. */
  async function fill(account: Fixture, model = "m"): Promise<readonly string[]> {
    const ids = [account.id, unique("account"), unique("account")];
    const books = { ledger: account.ledger, admit: account.admit.bind(account) };
    for (let call = 0; call < 34; call++) {
      const [plan, target] = [call % 2 === 0 ? "free" : "pro", `openai/m${call % 3}`];
      const team = call % 4 === 0 ? {} : { "tag.team": call % 3 === 0 ? "red" : "blue" };
      const ofVersion = call % 5 === 0 ? {} : { plan, target };
      const cost = call % 7 === 0 ? {} : { costMicro: call % 6 };
      const units =
        call % 6 === 0
          ? { images: call, searches: 1, inputImage: 3, outputImage: 1 + call }
          : call % 6 === 1
            ? { audioMs: 9, characters: call, inputAudio: 2, cachedInputAudio: 1 }
            : {};
      const tags = { model: `${model}${call % 2}`, keyId: `k${call % 3}`, ...ofVersion, ...team, ...cost, ...units };
      await spend(books, ids[call % 3] as string, 10 + call, tags);
      if (call === 21) await spend(books, ids[0] as string, 5, { model, "tag.model": "x", "tag.day": "y" });
      if (call === 20) await spend(books, ids[0] as string, 0, { model, 'tag.a"b': "\\", cacheWrite: 3 });
      account.clock.advance(3 * hour);
    }
    return ids;
  }

  journalIt("adds up accounts, in one period or in many", async (account) => {
    const ids = await fill(account);
    const end = account.clock.now();
    const midnight = Math.ceil(start / day) * day;
    for (const periods of [
      [start, end],
      [midnight, midnight + day, midnight + 2 * day, midnight + 3 * day],
      [start, midnight, midnight + 2 * day, end + hour],
      [start + 1, start + 3 * hour, start + 3 * hour + 1, start + 5 * hour],
      // As days and hours of a time zone that is half an hour aside are.
      Array.from({ length: 5 }, (_, count) => midnight - 330 * minute + count * day),
      Array.from({ length: 80 }, (_, count) => midnight + 30 * minute + count * hour),
      [start, start],
      [end + day, end + 2 * day],
    ]) {
      await expectTotalsToMatch(account, ids, periods);
    }
    await expectTotalsToMatch(account, ids.slice(1), [start, end]);
    await expectTotalsToMatch(account, [], [start, end]);
  });

  journalIt("adds up all accounts, in periods of every time zone", async (account) => {
    const model = unique("model");
    const ids = await fill(account, model);
    const end = account.clock.now();
    const midnight = Math.ceil(start / day) * day;
    // No other accounts have these.
    const models = { model: [model, `${model}0`, `${model}1`] };
    const days = (aside: number) => Array.from({ length: 6 }, (_, count) => midnight - aside + (count - 1) * day);
    const hours = (aside: number) => Array.from({ length: 110 }, (_, count) => midnight - day - aside + count * hour);
    const shapes = [
      days(0),
      days(5 * hour),
      days(345 * minute),
      hours(0),
      hours(45 * minute),
      [start, end],
      [start + 1, end - 1],
    ];
    for (const periods of shapes) await expectTotalsToMatch(account, ids, periods, models);
    await expectTotalsToMatch(account, ids, days(330 * minute), {
      ...models,
      plan: ["pro"],
      "tag.team": ["red", null],
    });
    await account.ledger.forget(ids[1] as string);
    const left = [ids[0], ids[2]] as string[];
    for (const periods of shapes) await expectTotalsToMatch(account, left, periods, models);
  });

  journalIt("adds up what is asked for only", async (account) => {
    const ids = await fill(account);
    const periods = [start, start + 2 * day, account.clock.now()];
    const filters: TotalsFilter[] = [
      { plan: ["pro"] },
      { plan: [null], model: ["m1"] },
      { model: ["m0", "none"], "tag.team": ["red", null] },
      { target: ["openai/m1", "openai/m2"], key: ["k1"] },
      { funding: ["plan"] },
      { funding: ["prepaid"] },
      { 'tag.a"b': ["\\"] },
    ];
    for (const filter of filters) await expectTotalsToMatch(account, ids, periods, { ...filter, account: ids });
  });

  journalIt("adds up what expired, was late, and was given back", async (account) => {
    const dead = await account.admit(50);
    const late = await account.admit(60);
    const renewals = [dead, late].map((lease) => ({ lease, observedMicro: 25, leaseMs: minute }));
    await account.ledger.renew(renewals);
    account.clock.advance(hour);
    await account.ledger.settle(late, { amountMicro: 40, tags: { model: "m", plan: "pro", costMicro: 9, ...tokens } });
    account.clock.advance(second);
    await expectTotalsToMatch(account, [account.id], [start, start + minute, start + day]);
  });

  journalIt("adds up what calls cost, and what those of a known cost were charged", async (account) => {
    const { ledger, id } = account;
    if (ledger.totals === undefined) return;
    const books = { ledger, admit: account.admit.bind(account) };
    await spend(books, id, 1_200, { model: "m", costMicro: 600 });
    await spend(books, id, 300, { model: "m", costMicro: 450 });
    await spend(books, id, 70, { model: "m" });
    await spend(books, id, 5, { model: "n" });
    const totals = await ledger.totals({ periods: [start, start + day], by: ["model"], where: { account: [id] } });
    const costs = totals.map(({ by, chargedMicro, costMicro = null, costedMicro = null }) => {
      return { model: by[0], chargedMicro, costMicro, costedMicro };
    });
    expect(costs.sort((one, other) => other.chargedMicro - one.chargedMicro)).toEqual([
      { model: "m", chargedMicro: 1_570, costMicro: 1_050, costedMicro: 1_500 },
      { model: "n", chargedMicro: 5, costMicro: null, costedMicro: null },
    ]);
  });

  journalIt("knows all accounts, but for those that are forgotten", async (account) => {
    const { ledger, id } = account;
    if (ledger.totals === undefined) return;
    const other = unique("account");
    await account.spend(7);
    await ledger.settle(await account.admit(9, { account: other }), { amountMicro: 9 });
    const ours = async () => {
      const totals = (await ledger.totals?.({ periods: [start, start + day], by: ["account"], where: {} })) ?? [];
      const charged = totals.map(({ by, chargedMicro }): [string | null, number] => [by[0] ?? null, chargedMicro]);
      return charged.filter(([name]) => name === id || name === other).sort((one, two) => one[1] - two[1]);
    };
    expect(await ours()).toEqual([
      [id, 7],
      [other, 9],
    ]);
    await ledger.forget(other);
    expect(await ours()).toEqual([[id, 7]]);
  });

  journalIt("adds up an account once that is named twice", async (account) => {
    const { ledger, id } = account;
    if (ledger.totals === undefined) return;
    await account.spend(7);
    const where = { account: [id, id, id], "tag.team": [null, null] };
    const totals = await ledger.totals({ periods: [start, start + day], by: ["account"], where });
    expect(totals.map(({ by, chargedMicro }) => [...by, chargedMicro])).toEqual([[id, 7]]);
  });

  journalIt("adds up tags of which each call has another", async (account) => {
    const books = { ledger: account.ledger, admit: account.admit.bind(account) };
    for (let call = 0; call < 220; call++) await spend(books, account.id, 1, { "tag.team": unique("team") });
    account.clock.advance(day);
    const midnight = Math.floor(start / day) * day;
    await expectTotalsToMatch(account, [account.id], [midnight, midnight + day]);
  });

  journalIt("refuses what makes no sense", async (account) => {
    const { totals } = account.ledger;
    if (totals === undefined) return;
    const request = { periods: [0, 1], by: ["model"], where: {} };
    for (const periods of [[], [0], [1, 0], [0, 0.5], [0, Number.NaN]]) {
      await expectInputError(() => totals({ ...request, periods }));
    }
    for (const by of [["model", "model"], ["team"], ["day"]]) await expectInputError(() => totals({ ...request, by }));
    await expectInputError(() => totals({ ...request, where: { team: ["red"] } }));
    // No store has kept such a text, and to some it would be another one, or an error.
    for (const text of ["a\u0000", "a\ud800"]) {
      for (const name of ["account", "model", "tag.team"]) {
        await expectInputError(() => totals({ ...request, where: { [name]: [null, text] } }));
      }
      await expectInputError(() => totals({ ...request, by: [`tag.${text}`] }));
    }
  });
}
