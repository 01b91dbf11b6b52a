import { openBuild } from "./build.js";
import { allocatedBy, cpuOf, promisesOf, run, scriptsOf } from "./measure-process.js";
import { openMemory, openPostgres, openRedis } from "./servers.js";

/** By the number of accounts, what a pair takes. */
export type Figures = Record<number, { cpu?: number; bytes?: number; promises?: number; scripts?: number }>;

export interface WhatToMeasure {
  readonly accounts: readonly number[];
  readonly pairs: number;
  /** Bytes, promises and scripts in the place of processor time. */
  readonly counts: boolean;
}

const stores = { redis: openRedis, postgres: openPostgres, memory: openMemory };
/** Pairs, until the compiler has done what it does. */
const warmUp = 80_000;

export async function measureBuild(folder: string, store: string, what: WhatToMeasure): Promise<Figures> {
  const open = stores[store as keyof typeof stores];
  if (open === undefined) throw new Error(`There is no store "${store}": take redis or postgres.`);
  const build = await openBuild(folder, open);
  const figures: Figures = {};
  for (const accounts of what.accounts) {
    await run(build, accounts, warmUp);
    figures[accounts] = what.counts
      ? { bytes: await allocatedBy(build, accounts), scripts: await scriptsOf(build, accounts) }
      : { cpu: await cpuOf(build, accounts, what.pairs) };
  }
  // Last, for the hook that counts them makes all that follows slower.
  if (what.counts)
    for (const accounts of what.accounts)
      Object.assign(figures[accounts] as object, { promises: await promisesOf(build, accounts) });
  await build.close();
  return figures;
}
