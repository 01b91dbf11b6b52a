import { setTimeout as sleep } from "node:timers/promises";
import type { CreditLedger, Lease, ReserveRequest } from "../../../src/ledger/credit-ledger.js";
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
import { writeRecords } from "./write-records.js";

const leaseMs = 900_000;
const shortMs = 1_000;

const tags = { keyId: "key_1", model: "acme/small", input: 30, output: 12, "tag.team": "red" };

/** By which the stores go. */
export interface PassingClock {
  now(): number;
  /** Lets so many milliseconds pass. */
  pass(ms: number): unknown;
}

const realClock: PassingClock = { now: Date.now, pass: (ms) => sleep(ms) };

/** Writes books of every kind. @returns what the code that has written them then says of them. */
export async function writeBooks(stores: BookedStores, clock = realClock): Promise<Books> {
  const now = clock.now();
  const { ledger } = stores;
  const leases: Record<string, Lease> = {};
  const begin = async (request: Pick<ReserveRequest, "id" | "account" | "amountMicro"> & Partial<ReserveRequest>) => {
    const result = await ledger.reserve({ limits: limitsOf(request.account, now), leaseMs, ...request });
    if (!result.ok) throw new Error(`${request.id} was denied.`);
    leases[request.id] = result.lease;
    return result.lease;
  };

  await ledger.settle(await begin({ id: "ended", account: windowed, amountMicro: 300 }), { amountMicro: 250, tags });
  await ledger.release(await begin({ id: "released", account: windowed, amountMicro: 40 }));
  const open = await begin({ id: "open", account: windowed, amountMicro: 200 });
  await ledger.renew([{ lease: open, observedMicro: 120, leaseMs }]);
  const gone = { account: windowed, leaseMs: shortMs };
  const expired = await begin({ ...gone, id: "expired", amountMicro: 100 });
  await ledger.renew([{ lease: expired, observedMicro: 60, leaseMs: shortMs }]);
  await clock.pass(shortMs + 100);
  // It ends what has expired.
  await ledger.grant({
    ...{ id: "grant", account: windowed, window: "week", amountMicro: 70, limits: limitsOf(windowed, now) },
    note: "sorry",
  });
  const due = await begin({ ...gone, id: "due", amountMicro: 90 });
  await ledger.renew([{ lease: due, observedMicro: 35, leaseMs: shortMs }]);

  await ledger.settle(await begin({ id: "before reset", account: reset, amountMicro: 10 }), { amountMicro: 10 });
  await ledger.reset(reset, ["session", "week"]);
  await ledger.settle(await begin({ id: "after reset", account: reset, amountMicro: 6 }), { amountMicro: 5 });

  await begin({ id: "forgotten", account: forgotten, amountMicro: 20 });
  await ledger.forget(forgotten);

  await writePrepaid(ledger, begin, now);
  for (let n = 0; n < 300; n++) {
    await ledger.settle(await begin({ id: `busy ${n}`, account: busy, amountMicro: 2 }), { amountMicro: 1 });
    delete leases[`busy ${n}`];
  }
  const records = await writeRecords(stores);
  await clock.pass(shortMs + 100);
  return { ...(await readBooks(ledger, now)), leases, ...records };
}

/** Credits that are bought, and calls that they pay, with a cap and rates. */
async function writePrepaid(
  { topUp, settle, renew }: CreditLedger,
  begin: (request: Pick<ReserveRequest, "id" | "account" | "amountMicro"> & Partial<ReserveRequest>) => Promise<Lease>,
  now: number,
): Promise<void> {
  await topUp?.({ id: "payment 1", account: prepaid, amountMicro: 400, expiresAt: now + 30 * 86_400_000 });
  await topUp?.({ id: "payment 2", account: prepaid, amountMicro: 500 });
  const named = { account: prepaid, ...namedLimits(now) };
  const paid = await begin({ ...named, id: "paid", amountMicro: 300 });
  await settle(paid, { amountMicro: 280, tags, rates: [{ id: "key_1/tokens", actual: 42 }] });
  const paying = await begin({ ...named, id: "paying", amountMicro: 200 });
  await renew([{ lease: paying, observedMicro: 50, leaseMs, rates: [{ id: "key_1/tokens", actual: 7 }] }]);
}

async function readBooks(ledger: CreditLedger, now: number) {
  const accounts = [windowed, reset, forgotten, prepaid, busy];
  const read = async <Read>(one: (account: string) => Promise<Read>): Promise<Record<string, Read>> =>
    Object.fromEntries(await Promise.all(accounts.map(async (account) => [account, await one(account)])));
  const named = (account: string) => (account === prepaid ? namedLimits(now) : undefined);
  const balances = await read((account) => ledger.balance(account, limitsOf(account, now), named(account)));
  return {
    at: Math.max(...Object.values(balances).map((balance) => balance.now)),
    balances,
    history: await read(async (account) => (await ledger.history?.({ account }))?.entries ?? []),
  };
}
