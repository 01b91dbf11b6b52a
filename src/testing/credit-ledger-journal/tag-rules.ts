import { unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { entriesOf, type JournalIt } from "./journal-tests.js";

/** What entries are filed under. */
export function describeTags(journalIt: JournalIt): void {
  journalIt("takes tags of any name and text", async (account) => {
    const tags = { ["__proto__"]: "p", constructor: 1, "": "empty", "a.b": "c\n\u{1f600}", n: -1.5e-7 };
    await account.ledger.settle(await account.admit(30), { amountMicro: 20, tags });
    const [entry] = await entriesOf(account);
    expect(Object.entries(entry?.tags ?? {}).sort()).toEqual(Object.entries(tags).sort());
  });

  journalIt("keeps numbers exactly, up to the largest safe integer", async (account) => {
    const tags = { costMicro: Number.MAX_SAFE_INTEGER, half: 2 ** 52 + 1, nothing: 0 };
    await account.ledger.settle(await account.admit(30), { amountMicro: 20, tags });
    expect(await entriesOf(account)).toMatchObject([{ tags }]);
  });

  journalIt("loses no charge for what it is filed under", async (account) => {
    const tags = { "a\0b": "c\0d", "\ud83d": "\ude00", model: "m\n" };
    expect((await account.ledger.settle(await account.admit(30), { amountMicro: 20, tags })).status).toBe("settled");
    const { id: accountId, limits } = account;
    const grant = {
      id: unique("grant"),
      account: accountId,
      window: "week",
      amountMicro: 1,
      limits,
      note: "\0\ud83d",
    } as const;
    expect((await account.ledger.grant(grant)).week.bonusMicro).toBe(1);
    const entries = await entriesOf(account);
    expect(entries.map(({ amountMicro }) => amountMicro).sort()).toEqual([1, 20]);
    expect(entries.find(({ kind }) => kind === "charge")?.tags["model"]).toBe("m\n");
  });
}
