import { everywhere, second, unique } from "../credit-ledger-fixture.js";
import { expect } from "../expect.js";
import { expectInputError } from "../expect-input-error.js";
import type { RulesInput } from "./rules-input.js";

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
