// One of the processes that run-shared.ts starts: it calls a ledger, and says what that took.

import { setTimeout as pause } from "node:timers/promises";
import pg from "pg";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { storageCreditLedger } from "../../../src/ledger/storage/storage-credit-ledger.js";
import { postgresCreditLedger } from "../../../src/postgres/postgres-credit-ledger.js";
import type { PostgresPool } from "../../../src/postgres/postgres-pool.js";
import { PostgresStorage } from "../../../src/postgres/storage/postgres-storage.js";
import type { Pair } from "../benched-store.js";
import { ledgerPair, limitsNow } from "../ledger-pair.js";

/** `functions`: the rules are in the database. `storage`: they are in the process. */
export type SharedLedger = "functions" | "storage";

export interface CallerTask {
  readonly ledger: SharedLedger;
  readonly url: string;
  readonly accounts: number;
  /** What the network takes beside what it really takes, for the way there and back. */
  readonly delayMs: number;
  readonly inFlight: number;
  readonly warmUp: number;
  readonly seconds: number;
}

export interface CallerFigures {
  readonly pairs: number;
  /** Microseconds of processor time. */
  readonly cpu: number;
  /** Milliseconds. */
  readonly slowest: number;
}

/** The ledger of which the rules are in the database; it makes its schema. */
export async function openOld(pool: PostgresPool): Promise<CreditLedger> {
  const ledger = postgresCreditLedger({ pool, listen: false });
  await ledger.balance("nobody", limitsNow());
  return ledger;
}

function delayed(pool: pg.Pool, delayMs: number): PostgresPool {
  if (delayMs === 0) return pool;
  return {
    async query(text, values) {
      await pause(delayMs / 2);
      const result = await pool.query(text, values);
      await pause(delayMs / 2);
      return result;
    },
  };
}

async function callUntil(end: number, pair: Pair, task: CallerTask) {
  const figures = { pairs: 0, slowest: 0 };
  const caller = async () => {
    while (Date.now() < end) {
      const start = performance.now();
      await pair(`account_${Math.floor(Math.random() * task.accounts)}`);
      figures.slowest = Math.max(figures.slowest, performance.now() - start);
      figures.pairs++;
    }
  };
  await Promise.all(Array.from({ length: task.inFlight }, caller));
  return figures;
}

/** What the process is told, one after the other. */
interface Told {
  readonly measure: Promise<void>;
  readonly end: Promise<void>;
}

async function call(task: CallerTask, told: Told): Promise<void> {
  const pool = new pg.Pool({ connectionString: task.url, max: 8 });
  const network = delayed(pool, task.delayMs);
  const ledger =
    task.ledger === "functions"
      ? await openOld(network)
      : storageCreditLedger(new PostgresStorage(network, "infergate", undefined));
  const pair = ledgerPair(ledger);
  await callUntil(Date.now() + 1_000 * task.warmUp, pair, task);
  process.send?.({ event: "warm" });
  await told.measure;
  const before = process.cpuUsage();
  const figures = await callUntil(Date.now() + 1_000 * task.seconds, pair, task);
  const { user, system } = process.cpuUsage(before);
  process.send?.({ event: "measured", figures: { ...figures, cpu: user + system } });
  // The server's processes are there until their time is known.
  await told.end;
  await ledger.close?.();
  await pool.end();
  process.disconnect();
}

if (process.send !== undefined) {
  const steps = new Map<string, () => void>();
  const step = (name: string) => new Promise<void>((resolve) => steps.set(name, resolve));
  const told = { measure: step("measure"), end: step("end") };
  process.on("message", (message: { step: string; task?: CallerTask }) => {
    if (message.task === undefined) steps.get(message.step)?.();
    else void call(message.task, told);
  });
}
