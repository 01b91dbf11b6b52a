import { describe, expect, it } from "vitest";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { ManualClock } from "../../../src/testing/manual-clock.js";
import { account, audit, journalSinceBegin, limitsAt } from "./audit.js";
import { Child } from "./child.js";
import { databaseFolders } from "./database-folders.js";
import { limitedRequest } from "./limited-request.js";

const timeout = 60_000;
const newFolder = databaseFolders();
/** Of the spender: so many calls at a time, of so much at the most. One commit has an operation of each. */
const inFlight = 64;
const maxAmount = 100;

describe("a process that is killed", () => {
  it("loses nothing that it was answered, and holds nothing beyond its leases", { timeout }, async () => {
    const folder = newFolder();
    const database = folder.open();
    sqliteCreditLedger({ database });
    let charged = 0;
    for (const [round, lines] of [150, 333, 500].entries()) {
      const spender = await Child.start("spender.ts", folder.file, account, 1e9, 1e9, `round-${round}`, "log");
      expect(await spender.line()).toBe("ready");
      spender.say("go");
      const done: string[] = [];
      while (done.length < lines) done.push(await spender.line());
      spender.kill();
      done.push(...(await spender.rest()));
      const now = Date.now();

      const { used, held } = await audit(database, now);
      const entries = await journalSinceBegin(sqliteCreditLedger({ database }));
      const amounts = new Map(entries.map(({ id, amountMicro }) => [id, amountMicro]));
      const open = new Map<string, number>();
      for (const [word, id = "", amount] of done.map((line) => line.split(" "))) {
        if (word === "reserved") open.set(id, Number(amount));
        if (word !== "ended") continue;
        expect([id, amounts.get(id)]).toEqual([id, Number(amount)]);
        open.delete(id);
      }
      // What is committed together is told before the next commit, so at most one commit's is not.
      const known = [...amounts.keys()].filter((id) => id.startsWith(`round-${round}-`));
      const unanswered = known.filter((id) => !done.some((line) => line.startsWith(`ended ${id} `)));
      expect(unanswered.length).toBeLessThanOrEqual(inFlight);
      const answeredHolds = [...open].filter(([id]) => !amounts.has(id)).reduce((sum, [, amount]) => sum + amount, 0);
      expect(held - answeredHolds).toBeGreaterThanOrEqual(0);
      expect(held - answeredHolds).toBeLessThanOrEqual(inFlight * maxAmount);

      // The next process finds the holds expired, and charges what was last seen of each.
      const later = now + 60_000;
      const ledger = sqliteCreditLedger({ database, clock: new ManualClock(later) });
      const seen = new Map<string, number>();
      for (const [word, id = "", observed] of done.map((line) => line.split(" "))) {
        if (word === "renewed" && open.has(id) && !amounts.has(id)) seen.set(id, Number(observed));
      }
      const checkpoints = [...seen.values()].reduce((sum, observed) => sum + observed, 0);
      await ledger.grant({ id: `grant-${round}`, account, window: "month", amountMicro: 1, limits: limitsAt(later) });
      const after = await audit(database, later);
      expect(after.held).toBe(0);
      expect(after.used - used - checkpoints).toBeGreaterThanOrEqual(0);
      expect(after.used - used - checkpoints).toBeLessThan(inFlight * maxAmount);
      charged = after.used;
    }
    expect(charged).toBeGreaterThan(0);
  });

  it.each(["reserve", "settle"] as const)(
    "has done all of a %s or nothing, whatever statement it dies at",
    { timeout },
    async (operation) => {
      // BEGIN, two reads, two writes, COMMIT; the process is killed at the seventh before it can report it.
      const deaths = Array.from({ length: 7 }, async (_, statements) => {
        const folder = newFolder();
        const database = folder.open();
        const ledger = sqliteCreditLedger({ database });
        const limits = limitsAt(Date.now());
        const request = { id: "call", account, amountMicro: 10, limits, leaseMs: 60_000 };
        let lease: unknown = request;
        if (operation === "settle") {
          const result = await ledger.reserve(request);
          if (result.ok) lease = result.lease;
        }
        const child = await Child.start("dying-process.ts", folder.file, operation, statements, JSON.stringify(lease));
        expect(await child.end()).toBe("SIGKILL");

        const isDone = statements === 6;
        const { used, held } = await audit(database, Date.now());
        if (operation === "reserve") {
          expect({ used, held }).toEqual({ used: 0, held: isDone ? 10 : 0 });
          expect(await ledger.reserve(request)).toMatchObject({ ok: true, replayed: isDone });
          expect(await audit(database, Date.now())).toMatchObject({ used: 0, held: 10 });
        } else {
          expect({ used, held }).toEqual(isDone ? { used: 7, held: 0 } : { used: 0, held: 10 });
          const { status } = await ledger.settle(lease as Parameters<typeof ledger.settle>[0], { amountMicro: 7 });
          expect(status).toBe(isDone ? "duplicate" : "settled");
          expect(await audit(database, Date.now())).toMatchObject({ used: 7, held: 0 });
        }
      });
      await Promise.all(deaths);
    },
  );

  it.each(["reserve", "settle"] as const)(
    "has done all of a %s in prepaid credits, caps and rates or nothing",
    { timeout },
    async (operation) => {
      // BEGIN, two reads of the call and two of its limits, four writes, COMMIT, and the report. A settlement that prepaid
      // credits pay alone has a fifth: it takes the windows from the entry.
      const deaths = Array.from({ length: 13 }, async (_, statements) => {
        const folder = newFolder();
        const database = folder.open();
        const ledger = sqliteCreditLedger({ database });
        const request = limitedRequest("call", 10, { now: Date.now(), cap: 100, requestsPerMinute: 60 });
        const { limits, caps } = request;
        // Of one that fills, a test would have to know the time.
        const rates = request.rates?.filter(({ kind }) => kind === "concurrent");
        const limited = { ...request, rates };
        await ledger.topUp?.({ id: "payment", account, amountMicro: 50 });
        let lease: unknown = limited;
        if (operation === "settle") {
          const result = await ledger.reserve(limited);
          if (result.ok) lease = result.lease;
        }
        const child = await Child.start("dying-process.ts", folder.file, operation, statements, JSON.stringify(lease));
        expect(await child.end()).toBe("SIGKILL");

        const state = async () => {
          const {
            prepaid,
            caps: [cap] = [],
            rates: [rate] = [],
          } = await ledger.balance(account, limits, { caps, rates });
          await audit(database, Date.now());
          return [prepaid?.balanceMicro, prepaid?.heldMicro, cap?.usedMicro, cap?.heldMicro, rate?.remaining];
        };
        const [nothing, open, done] = [
          [50, 0, 0, 0, 1_000],
          [50, 10, 0, 10, 999],
          [43, 0, 7, 0, 1_000],
        ];
        const isDone = statements >= (operation === "reserve" ? 10 : 11);
        if (operation === "reserve") {
          expect([statements, ...(await state())]).toEqual([statements, ...(isDone ? open : nothing)]);
          expect(await ledger.reserve(limited)).toMatchObject({ ok: true, replayed: isDone });
          expect(await state()).toEqual(open);
        } else {
          expect([statements, ...(await state())]).toEqual([statements, ...(isDone ? done : open)]);
          const { status } = await ledger.settle(lease as Parameters<typeof ledger.settle>[0], { amountMicro: 7 });
          expect(status).toBe(isDone ? "duplicate" : "settled");
          expect(await state()).toEqual(done);
        }
      });
      await Promise.all(deaths);
    },
  );
});
