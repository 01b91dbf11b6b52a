import { monitorEventLoopDelay } from "node:perf_hooks";
import { parseArgs } from "node:util";
import { splitTime } from "../../../src/gateway/usage/split-time.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import type { TotalsFilter, TotalsRequest } from "../../../src/ledger/usage/usage-request.js";
import { median } from "../measure.js";

export const dayMs = 86_400_000;
export const callsPerSum = 11;

/** What these measurements are told by. */
export const { values: flags } = parseArgs({
  options: {
    accounts: { type: "string", default: "10000" },
    days: { type: "string", default: "30" },
    runs: { type: "string", default: "5" },
    lines: { type: "string", default: "1000000" },
    url: { type: "string" },
    keep: { type: "string" },
  },
});
const [accounts, days, runs] = [flags.accounts, flags.days, flags.runs].map(Number) as [number, number, number];
const last = Math.floor(Date.now() / dayMs) - 1;
const first = last - days;

/** The month that is made: so many accounts, and its first and last day since 1970. */
export const month = { accounts, days, first, last };

/** Asks all that is measured, in four time zones, and prints milliseconds and the longest time that the event loop was blocked. */
export async function measureMonth(ledger: CreditLedger): Promise<void> {
  for (const [name, request] of await questions()) {
    const times: number[] = [];
    let records = 0;
    const delay = monitorEventLoopDelay({ resolution: 1 });
    delay.enable();
    for (let run = 0; run < runs; run++) {
      const begin = performance.now();
      records = (await ledger.totals?.(request))?.length ?? 0;
      times.push(performance.now() - begin);
    }
    delay.disable();
    const [least, middle] = [Math.min(...times), median(times)].map((time) => time.toFixed(0));
    const block = (delay.max / 1e6).toFixed(0);
    console.log(
      `${name}: ${records} records, ${least} ms at the least, median ${middle} ms, longest block ${block} ms`,
    );
  }
}

async function questions(): Promise<readonly (readonly [string, TotalsRequest])[]> {
  const where: TotalsFilter = {};
  const ofOne: TotalsFilter = { account: ["acct_7"] };
  const ofPlan: TotalsFilter = { plan: ["plan-1"] };
  const all: (readonly [string, TotalsRequest])[] = [];
  for (const zone of ["UTC", "America/New_York", "Asia/Kolkata", "Asia/Kathmandu"]) {
    const [whole, byDay, byHour] = [await periods(zone), await periods(zone, "day"), await periods(zone, "hour")];
    const asked: Record<string, TotalsRequest> = {
      "all together": { periods: whole, by: [], where },
      "by account": { periods: whole, by: ["account"], where },
      "by key of a plan": { periods: whole, by: ["key"], where: ofPlan },
      "by day, plan, model and target": { periods: byDay, by: ["plan", "model", "target"], where },
      "by hour and model": { periods: byHour, by: ["model"], where },
      "by hour and tag, of a plan": { periods: byHour, by: ["tag.team"], where: ofPlan },
      "one account by hour and model": { periods: byHour, by: ["model"], where: ofOne },
      "one account by day, key and tag": { periods: byDay, by: ["key", "tag.team"], where: ofOne },
    };
    for (const [name, request] of Object.entries(asked)) all.push([`${zone}, ${name}`, request]);
  }
  return all;
}

/** A month as clocks there show it: so many hours aside. */
async function periods(timeZone: string, every?: "day" | "hour"): Promise<readonly number[]> {
  const around = { from: first * dayMs - dayMs / 2, to: first * dayMs + dayMs };
  const [, aside = 0] = (await splitTime(around, { every: "day", timeZone, most: 9 })) ?? [];
  const [from, to] = [aside, aside + days * dayMs];
  if (every === undefined) return [from, to];
  return (await splitTime({ from, to }, { every, timeZone, most: 1_000 })) ?? [];
}
