import { expect, it } from "vitest";
import { simulate } from "./simulation.js";

// SIM_SEED repeats one simulation; SIM_RUNS makes more of them.
const { SIM_SEED, SIM_RUNS } = process.env;
const seeds =
  SIM_SEED === undefined ? Array.from({ length: Number(SIM_RUNS ?? 300) }, (_, run) => run) : [Number(SIM_SEED)];

it("many processes keep the books that one keeps, whatever the network does", async () => {
  const sums: Record<string, number> = {};
  for (const seed of seeds) {
    const { problems, counts } = await simulate(seed);
    expect(problems, `SIM_SEED=${seed} repeats it`).toEqual([]);
    for (const [name, count] of Object.entries(counts)) sums[name] = (sums[name] ?? 0) + count;
  }
  // That nothing failed says something only where all of it has happened.
  if (SIM_SEED === undefined) for (const [name, count] of Object.entries(sums)) expect(count, name).toBeGreaterThan(0);
}, 120_000);
