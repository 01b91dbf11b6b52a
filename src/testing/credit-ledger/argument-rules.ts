import { confusableTexts } from "../confusable-texts.js";
import { countsOf, everywhere, expectInputError, type RulesInput, second, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";

/** Which amounts, lengths and batches are refused. */
export function describeArguments({ describe, it, fixture }: RulesInput): void {
  describe("arguments", () => {
    const amounts = [-1, 0.5, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 53];

    it("refuses amounts that are no whole micro-credits", async () => {
      const account = await fixture({ session: 10 });
      const lease = await account.admit(1);
      for (const amountMicro of amounts) {
        await expectInputError(() => account.reserve(amountMicro));
        await expectInputError(() => account.ledger.settle(lease, { amountMicro }));
        await expectInputError(() => account.ledger.renew([{ lease, observedMicro: amountMicro, leaseMs: 1_000 }]));
        await expectInputError(() =>
          account.reserve(1, { limits: { ...account.limits, session: { limitMicro: amountMicro, lengthMs: 1 } } }),
        );
        const { week } = account.limits;
        await expectInputError(() =>
          account.reserve(1, { limits: { ...account.limits, week: { ...week, limitMicro: amountMicro } } }),
        );
        await expectInputError(() =>
          account.reserve(1, { limits: { ...account.limits, month: { ...week, limitMicro: amountMicro } } }),
        );
      }
      for (const amountMicro of amounts.slice(1)) {
        await expectInputError(() =>
          account.ledger.grant({
            id: unique("grant"),
            account: account.id,
            window: "week",
            amountMicro,
            limits: account.limits,
          }),
        );
      }
      expect(await account.counts()).toEqual(everywhere(0, 1));
    });

    it("refuses leases shorter than a second or longer than a quarter of an hour", async () => {
      const account = await fixture();
      const lease = await account.admit(1);
      for (const leaseMs of [0, 999, 1_000.5, 900_001, Number.NaN]) {
        await expectInputError(() => account.reserve(1, { leaseMs }));
        await expectInputError(() => account.ledger.renew([{ lease, observedMicro: 1, leaseMs }]));
      }
      await account.admit(1, { leaseMs: 1_000 });
      await account.admit(1, { leaseMs: 900_000 });
    });

    it("refuses sessions without length", async () => {
      const account = await fixture();
      for (const lengthMs of [0, -1, 0.5, Number.NaN]) {
        const limits = { ...account.limits, session: { limitMicro: 1, lengthMs } };
        await expectInputError(() => account.reserve(1, { limits }));
        await expectInputError(() => account.ledger.balance(account.id, limits));
      }
    });

    it("applies no renewal of a batch in which one is wrong", async () => {
      const account = await fixture();
      const lease = await account.admit(1);
      const good = { lease, observedMicro: 9, leaseMs: 60 * second };
      await expectInputError(() => account.ledger.renew([good, { ...good, observedMicro: -1 }]));
      expect(await account.counts()).toEqual(everywhere(0, 1));
    });
  });
}

/** Which names of accounts and ids are refused. */
export function describeNames({ describe, it, fixture }: RulesInput): void {
  describe("arguments", () => {
    it("refuses accounts and ids that are empty, and accounts that are too long", async () => {
      const account = await fixture();
      const lease = await account.admit(1);
      await account.admit(1, { account: unique("a").padEnd(128, "a") });
      for (const accountId of ["", "a".repeat(129)]) {
        await expectInputError(() => account.reserve(1, { account: accountId }));
        await expectInputError(() => account.ledger.settle({ ...lease, account: accountId }, { amountMicro: 1 }));
        await expectInputError(() => account.ledger.release({ ...lease, account: accountId }));
        await expectInputError(() => account.ledger.balance(accountId, account.limits));
        await expectInputError(() => account.ledger.reset(accountId, ["week"]));
        await expectInputError(() => account.ledger.forget(accountId));
      }
      await expectInputError(() => account.reserve(1, { id: "" }));
    });

    it.each(confusableTexts)("refuses %j in the names of accounts and in ids", async (text) => {
      const account = await fixture({ session: 10 });
      const { id: accountId, limits, ledger } = account;
      const lease = await account.admit(1);
      for (const wrong of [text, `${accountId}${text}`]) {
        await expectInputError(() => account.reserve(1, { account: wrong }));
        await expectInputError(() => account.reserve(1, { id: wrong }));
        for (const forged of [
          { ...lease, account: wrong },
          { ...lease, id: wrong },
        ]) {
          await expectInputError(() => ledger.settle(forged, { amountMicro: 1 }));
          await expectInputError(() => ledger.release(forged));
          await expectInputError(() => ledger.renew([{ lease: forged, observedMicro: 1, leaseMs: second }]));
        }
        const grant = { id: unique("grant"), account: accountId, window: "week", amountMicro: 1, limits } as const;
        await expectInputError(() => ledger.grant({ ...grant, id: wrong }));
        await expectInputError(() => ledger.grant({ ...grant, account: wrong }));
        await expectInputError(() => ledger.balance(wrong, limits));
        await expectInputError(() => ledger.reset(wrong, ["week"]));
        await expectInputError(() => ledger.forget(wrong));
        if (ledger.history !== undefined) await expectInputError(async () => ledger.history?.({ account: wrong }));
      }
      expect(await account.counts()).toEqual(everywhere(0, 1));
    });

    it("tells apart the names that are alike", async () => {
      const account = await fixture({ session: 10 });
      const name = unique("account");
      const twins = ["", " ", "\ufffd", "e\u0301", "\u00e9", "A", "a", "\u{1f600}", "\u{1f601}"].map(
        (end) => name + end,
      );
      for (const [index, accountId] of twins.entries()) await account.admit(index + 1, { account: accountId });
      await account.ledger.forget(twins[2] as string);
      for (const [index, accountId] of twins.entries()) {
        const { windows } = await account.ledger.balance(accountId, account.limits);
        expect(countsOf(windows)).toEqual(everywhere(0, index === 2 ? 0 : index + 1));
      }
    });

    it("takes accounts of 128 characters and ids of 256, and no longer ones", async () => {
      for (const character of ["a", "\uffee", "\u{1f600}"]) {
        const account = await fixture({ session: 100 });
        const long = (text: string, length: number) =>
          text.padEnd(100) + character.repeat((length - 100) / character.length);
        const [accountId, id] = [long(unique("account"), 128), long(unique("id"), 256)];
        const lease = await account.admit(5, { account: accountId, id });
        expect((await account.ledger.settle(lease, { amountMicro: 4 })).status).toBe("settled");
        const { limits } = account;
        const grant = {
          id: long(unique("grant"), 256),
          account: accountId,
          window: "week",
          amountMicro: 3,
          limits,
        } as const;
        for (let time = 0; time < 2; time++) expect((await account.ledger.grant(grant)).week.bonusMicro).toBe(3);
        await expectInputError(() => account.reserve(1, { id: `${id}a` }));
        await expectInputError(() => account.ledger.settle({ ...lease, id: `${id}a` }, { amountMicro: 1 }));
        await expectInputError(() => account.ledger.grant({ ...grant, id: `${grant.id}a` }));
      }
    });
  });
}
