import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { redisCreditLedger } from "../../../src/stores/redis/redis-credit-ledger.js";
import { everywhere, Fixture } from "../../../src/testing/credit-ledger-fixture.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { bundled } from "../../support/bundled.js";
import { journalOf } from "../../support/journal-of.js";
import { hasRedisServer } from "../../support/redis-server.js";
import { clients } from "./clients.js";
import { RedisTest } from "./redis-test.js";

/** What a process of fixtures/spender.ts prints of each account. */
interface Seen {
  charged: number;
  settled: number;
  denied: number;
  mostTaken: number;
}

const processes = 8;
const tasks = 64;
const turns = 12;
/** What a request of a spender costs at most. */
const largest = 1_000;
/** Accounts and the limits of their sessions. */
const accounts: readonly (readonly [string, number])[] = [
  ["runs out", 700_000],
  ["is crowded", 40_000],
];

describe.runIf(hasRedisServer)("the Redis ledger and many processes", () => {
  let test: RedisTest;
  /** Of each process, what came of the accounts. */
  let seenByAll: Seen[][];

  // Each process spends on all of them: to start one takes longer than what it does.
  beforeAll(async () => {
    test = await RedisTest.start();
    seenByAll = await Promise.all(
      Array.from({ length: processes }, (_, index) => spendIn(clients[index % clients.length]?.[0])),
    );
  }, 120_000);

  afterAll(() => test.stop());

  async function spendIn(library: string | undefined): Promise<Seen[]> {
    const file = await bundled(fileURLToPath(new URL("fixtures/spender.ts", import.meta.url)));
    const args = [library, test.server.port, tasks, turns, ...accounts.flat()].map(String);
    const { stdout } = await promisify(execFile)(process.execPath, [file, ...args]);
    return JSON.parse(stdout);
  }

  it.each(accounts)("lets none of them overdraw the account that %s, and its books balance", async (name, limit) => {
    // As the spenders' ledgers are.
    const ledger = redisCreditLedger({ client: test.client });
    const account = new Fixture(new ManualClock(Date.now()), ledger, { session: limit });
    Object.assign(account, { id: name });
    const all = seenByAll.map((seen) => seen[accounts.findIndex(([other]) => other === name)] as Seen);
    const sum = (member: keyof Seen) => all.reduce((total, seen) => total + seen[member], 0);
    const [charged, mostTaken] = [sum("charged"), Math.max(...all.map((seen) => seen.mostTaken))];
    console.info(
      `Redis: ${processes} processes were denied ${sum("denied")} times, and took at most ${mostTaken} of ${limit}.`,
    );

    expect(sum("denied")).toBeGreaterThan(0);
    expect(mostTaken).toBeGreaterThanOrEqual(limit);
    expect(mostTaken).toBeLessThan(limit + largest);
    expect(charged).toBeLessThan(limit + largest);
    expect(await account.counts()).toEqual(everywhere(charged, 0));

    const entries = await journalOf(ledger, account.id);
    expect(entries.reduce((total, { amountMicro }) => total + amountMicro, 0)).toBe(charged);
    expect(entries.length).toBe(sum("settled"));
    expect(new Set(entries.map(({ id }) => id)).size).toBe(entries.length);
  });
});
