/**
 * Compares two ledgers in PostgreSQL that processes share: the one of `postgresCreditLedger`, and one over its storage. Each
 * round runs both, one after the other. See README.md.
 * Flags: --accounts 1,10000  --processes 1,4,16  --delays 0,5,30  --rounds 3  --seconds 3  --inFlight 16
 */
import { fork } from "node:child_process";
import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import pg from "pg";
import { createStorage } from "../../postgres/storage/create-storage.js";
import { hasPostgres, TemporaryServer } from "../../support/postgres-server.js";
import { describeMachine } from "../machine.js";
import { median } from "../measure.js";
import { type CallerFigures, type CallerTask, openOld, type SharedLedger } from "./call-in-process.js";

const { values } = parseArgs({
  options: {
    accounts: { type: "string", default: "1,10000" },
    processes: { type: "string", default: "1,4,16" },
    delays: { type: "string", default: "0,5,30" },
    rounds: { type: "string", default: "3" },
    seconds: { type: "string", default: "3" },
    warmUp: { type: "string", default: "3" },
    inFlight: { type: "string", default: "16" },
  },
});
const ledgers: readonly SharedLedger[] = ["functions", "storage"];

interface Figures {
  readonly pairs: number;
  /** Processor time of a pair, in microseconds: of the callers' processes, and of the server's. */
  readonly client: number;
  readonly server: number;
  readonly slowest: number;
  /** Pairs of the slowest process, as a part of those of the fastest. */
  readonly fair: number;
}

/** Processor time of all processes of the server so far, in microseconds. Linux tells it in hundredths of a second. */
async function serverTime(pool: pg.Pool): Promise<number> {
  const { rows } = await pool.query("select pid from pg_stat_activity");
  const ticks = rows.map(({ pid }) => {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    const [user = 0, system = 0] = stat
      .slice(stat.lastIndexOf(")") + 2)
      .split(" ")
      .slice(11, 13)
      .map(Number);
    return user + system;
  });
  return ticks.reduce((sum, one) => sum + one, 0) * 10_000;
}

/** Starts callers, and measures while all of them call. */
async function measure(pool: pg.Pool, task: CallerTask, processes: number): Promise<Figures> {
  const file = fileURLToPath(new URL("call-in-process.ts", import.meta.url));
  const callers = Array.from({ length: processes }, () => fork(file, [], { execArgv: ["--import", "tsx"] }));
  const all = (event: string) =>
    Promise.all(
      callers.map(
        (caller) =>
          new Promise<CallerFigures>((resolve, reject) => {
            caller.once("exit", (code) => reject(new Error(`A caller ended with ${code} before it was ${event}.`)));
            caller.on("message", (message: { event: string; figures: CallerFigures }) => {
              if (message.event === event) resolve(message.figures);
            });
          }),
      ),
    );
  try {
    const warm = all("warm");
    const measured = all("measured");
    measured.catch(() => {});
    for (const caller of callers) caller.send({ step: "start", task });
    await warm;
    const before = await serverTime(pool);
    for (const caller of callers) caller.send({ step: "measure" });
    const figures = await measured;
    const server = (await serverTime(pool)) - before;
    const pairs = figures.map((one) => one.pairs);
    const sum = pairs.reduce((total, one) => total + one, 0);
    return {
      pairs: sum / task.seconds,
      client: figures.reduce((total, { cpu }) => total + cpu, 0) / sum,
      server: server / sum,
      slowest: Math.max(...figures.map(({ slowest }) => slowest)),
      fair: Math.min(...pairs) / Math.max(...pairs),
    };
  } finally {
    const ended = callers.map((caller) => new Promise((resolve) => caller.once("exit", resolve)));
    for (const caller of callers) if (caller.connected) caller.send({ step: "end" });
    await Promise.all(callers.map((caller, index) => (caller.exitCode === null ? ended[index] : undefined)));
  }
}

const numbers = (list: string) => list.split(",").map(Number);

async function compare(pool: pg.Pool, url: string): Promise<void> {
  for (const accounts of numbers(values.accounts)) {
    for (const processes of numbers(values.processes)) {
      for (const delayMs of numbers(values.delays)) {
        const found: Record<SharedLedger, Figures[]> = { functions: [], storage: [] };
        for (let round = 0; round < Number(values.rounds); round++) {
          for (const ledger of round % 2 === 0 ? ledgers : ledgers.toReversed()) {
            const times = { warmUp: Number(values.warmUp), seconds: Number(values.seconds) };
            const task = { ledger, url, accounts, delayMs, inFlight: Number(values.inFlight), ...times };
            found[ledger].push(await measure(pool, task, processes));
          }
        }
        report(`${accounts} accounts, ${processes} processes, ${delayMs} ms`, found);
      }
    }
  }
}

function report(name: string, found: Record<SharedLedger, Figures[]>): void {
  for (const ledger of ledgers) {
    const of = (member: keyof Figures, digits = 0) =>
      median(found[ledger].map((figures) => figures[member])).toFixed(digits);
    const times = (member: keyof Figures) =>
      median(found[ledger].map((one, round) => one[member] / (found.functions[round] as Figures)[member])).toFixed(2);
    console.log(
      `${name}, ${ledger}: ${of("pairs")} pairs/s (× ${times("pairs")}), client ${of("client")} µs (× ${times("client")}), ` +
        `server ${of("server")} µs (× ${times("server")}), slowest ${of("slowest")} ms, fair ${of("fair", 2)}`,
    );
  }
}

if (!hasPostgres) throw new Error("There is no PostgreSQL on this machine.");
// As a server is that keeps what it has acknowledged.
const server = new TemporaryServer({ fsync: "on", shared_buffers: "256MB", max_connections: "400" });
await server.create();
const pool = new pg.Pool({ connectionString: server.url, max: 2 });
try {
  await openOld(pool);
  await createStorage(pool, "infergate");
  console.log(JSON.stringify(describeMachine()));
  await compare(pool, server.url);
} finally {
  await pool.end();
  await server.remove();
}
