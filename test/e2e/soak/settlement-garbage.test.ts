import { expect, it } from "vitest";
import { systemClock } from "../../../src/ledger/calendar.js";
import type { CreditLedger, Lease } from "../../../src/ledger/credit-ledger.js";
import { SettleOutbox } from "../../../src/ledger/guard/settle-outbox.js";
import { TimeLimit } from "../../../src/ledger/guard/time-limit.js";
import { oldSpaceGrowth } from "../../support/old-space-growth.js";

const turn = () => new Promise((resolve) => setImmediate(resolve));

it("leaves no settlement that has ended to the collection of the whole heap", async () => {
  const settle = async ({ amountMicro }: Lease) => {
    for (let turns = 0; turns < amountMicro; turns++) await turn();
    return { status: "settled" };
  };
  const outbox = new SettleOutbox({
    ledger: { settle } as unknown as CreditLedger,
    limit: new TimeLimit(60_000),
    responseLimit: new TimeLimit(60_000),
    clock: systemClock,
    emit: () => {},
    most: 10_000,
    onAnswer: { isDown: false, succeeded: () => {}, failed: () => {}, settled: () => {} },
  });
  let last = 0;
  const send = () => {
    const id = `r${++last}`;
    const lease = { id, amountMicro: 1 + (last % 4), weight: new Array(128).fill(last) };
    return outbox.send({ lease: lease as unknown as Lease, settlement: { amountMicro: 1 } });
  };
  const bytes = await oldSpaceGrowth(20_000, send);
  // All settlements together are 20 MB.
  expect(bytes).toBeLessThan(2e6);
  await outbox.close(0, Promise.resolve());
});
