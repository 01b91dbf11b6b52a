import type { UsageSum } from "../../ledger/usage/usage-request.js";
import { UsageSums } from "../../ledger/usage/usage-sums.js";
import { day, type Fixture, hour, minute, second, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { entriesOf, type JournalIt, type JournalOwner } from "./journal-tests.js";

interface Range {
  readonly from?: number;
  readonly to?: number;
}

/** What usage can be summed by, as the sums are compared with the journal. */
const dimensions: readonly (readonly string[])[] = [
  ["day", "model", "key"],
  ["funding"],
  ["team"],
  ["team", "day", 'a"b'],
];

/** What the journal of an account adds up to. */
export async function sumsOf(account: JournalOwner, by: readonly string[], range: Range = {}): Promise<UsageSum[]> {
  const sums = new UsageSums(by);
  for (const entry of await entriesOf(account, { limit: 1000, ...range })) sums.addEntry(entry);
  return sums.list();
}

/** The sums of an account must be those of its journal. A ledger without `usage` passes it by. */
export async function expectSumsToMatch(account: JournalOwner, range: Range = {}): Promise<void> {
  for (const by of dimensions) {
    const kept = await account.ledger.usage?.({ account: account.id, by, ...range });
    if (kept === undefined) return;
    const sums = new UsageSums(by);
    for (const sum of kept) sums.addSum(sum);
    expect(sums.list()).toEqual(await sumsOf(account, by, range));
  }
}

/** The sums of the journal. */
export function describeUsage(journalIt: JournalIt): void {
  const tokens = { input: 5, cachedInput: 1, output: 7, reasoning: 2 };
  const spend = async (account: Fixture, amountMicro: number, tags: Record<string, string | number>) =>
    account.ledger.settle(await account.admit(amountMicro), { amountMicro, tags: { ...tokens, ...tags } });

  journalIt("sums up by day, model, key, funding and tag", async (account) => {
    await spend(account, 10, { model: "m", keyId: "k1", "tag.team": "red" });
    await spend(account, 20, { model: "m", keyId: "k2", "tag.team": "blue", cacheWrite: 3 });
    await spend(account, 30, { model: "n", keyId: "k1", "tag.team": "red", 'tag.a"b': "\\" });
    account.clock.advance(day);
    await spend(account, 40, { model: "m", keyId: "k1" });
    await expectSumsToMatch(account);
  });

  journalIt("sums up what calls cost, where that is known", async (account) => {
    await spend(account, 10, { model: "m", costMicro: 7, "tag.team": "red" });
    await spend(account, 20, { model: "m" });
    await spend(account, 30, { model: "n", "tag.team": "red" });
    await account.ledger.topUp?.({ account: account.id, id: unique("topup"), amountMicro: 1_000 });
    await spend(account, 900, { model: "m", costMicro: 5 });
    account.clock.advance(day);
    await spend(account, 0, { model: "o", costMicro: 3 });
    await spend(account, 40, { model: "m", costMicro: 0 });
    await expectSumsToMatch(account);
    const sums = await account.ledger.usage?.({ account: account.id, by: ["model"] });
    if (sums === undefined) return;
    expect(sums.map(({ by, costMicro = null, costedMicro = null }) => [by["model"], costMicro, costedMicro])).toEqual([
      ["m", 12, 950],
      ["n", null, null],
      ["o", 3, 0],
    ]);
  });

  journalIt("sums up what is counted beside tokens", async (account) => {
    const parts = {
      inputImage: 4,
      inputAudio: 1,
      cachedInputImage: 2,
      cachedInputAudio: 1,
      outputImage: 5,
      outputAudio: 2,
    };
    const units = { images: 2, audioMs: 61_500, characters: 4_096, searches: 3, ...parts };
    await spend(account, 10, { model: "m", keyId: "k1", "tag.team": "red", ...units, imagesBy: "high/1024x1024:2" });
    await spend(account, 20, { model: "m", keyId: "k1", characters: 7 });
    await spend(account, 30, { model: "n", "tag.team": "red" });
    await account.ledger.topUp?.({ account: account.id, id: unique("topup"), amountMicro: 1_000 });
    // Prepaid credits pay a part of it.
    await spend(account, 900, { model: "n", images: 1, outputImage: 7 });
    account.clock.advance(day);
    await spend(account, 40, { model: "m", searches: 1, audioMs: 0 });
    await expectSumsToMatch(account);
    const sums = await account.ledger.usage?.({ account: account.id, by: ["model"] });
    if (sums === undefined) return;
    expect(sums.map(({ tokens }) => tokens)).toEqual([
      { input: 15, cachedInput: 3, output: 21, reasoning: 6, ...units, characters: 4_103, searches: 4 },
      { input: 10, cachedInput: 2, output: 14, reasoning: 4, images: 1, outputImage: 7 },
    ]);
  });

  journalIt("sums up what expired, was late, and was given back", async (account) => {
    const dead = await account.admit(50);
    const late = await account.admit(60);
    const released = await account.admit(70);
    const renewals = [dead, late, released].map((lease) => ({ lease, observedMicro: 25, leaseMs: minute }));
    await account.ledger.renew(renewals);
    account.clock.advance(hour);
    await account.ledger.settle(late, { amountMicro: 40, tags: { model: "m", ...tokens } });
    await account.ledger.release(released);
    await spend(account, 1, { model: "m" });
    await expectSumsToMatch(account);
  });

  journalIt("sums up a range to the millisecond", async (account) => {
    const { clock } = account;
    const first = clock.now();
    for (let call = 0; call < 12; call++) {
      await spend(account, 10 + call, { model: call % 2 === 0 ? "m" : "n" });
      clock.advance(7 * hour);
    }
    for (const [from, to] of [
      [first, clock.now()],
      [first + 1, clock.now() - 7 * hour],
      [first + 7 * hour, first + 14 * hour],
      [first + 7 * hour + 1, first + 14 * hour + 1],
      [first + 30 * hour, first + 32 * hour],
      [clock.now() + second, clock.now() + day],
      [first + 7 * hour, first + 7 * hour],
      [first + 7 * hour, first + 7 * hour + 1],
      [first + 7 * hour - 1, first + 7 * hour],
      [first + 14 * hour, first + 7 * hour],
    ] as const) {
      await expectSumsToMatch(account, { from, to });
    }
    const midnight = Date.UTC(2026, 2, 12);
    await expectSumsToMatch(account, { from: midnight, to: midnight + day });
    await expectSumsToMatch(account, { to: midnight });
    await expectSumsToMatch(account, { from: midnight });
  });

  journalIt("sums up by tags of which each call has another", async (account) => {
    for (let call = 0; call < 300; call++) await spend(account, 1 + call, { model: "m", "tag.team": unique("team") });
    await expectSumsToMatch(account);
  });
}
