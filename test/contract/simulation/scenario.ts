import type { NetworkOptions } from "./clients/connection.js";
import type { StoreCosts } from "./store/store-server.js";

/** What a run simulates. */
export interface Scenario {
  readonly seed: number;
  readonly shards: number;
  readonly processes: number;
  readonly accounts: number;
  /** How much more frequent the first accounts are: the frequency of rank n falls as n to this power. */
  readonly zipf: number;
  /** Of all processes together. */
  readonly callsPerSecond: number;
  /** For how long calls begin, in virtual seconds. The run goes on until all is over. */
  readonly seconds: number;
  /** How many of these seconds go by before loads and latencies are measured. */
  readonly warmUpSeconds: number;
  readonly leaseMs: number;
  readonly costs: StoreCosts;
  readonly network: NetworkOptions;
  /** How many processes are killed, at random moments. Each of them is replaced at once. */
  readonly kills: number;
  /** Each store fails over once, in the middle of the run. */
  readonly failover: { readonly lagMs: number; readonly awayMs: number } | undefined;
}

/**
 * The store's costs were measured with Redis on two shared cores, by its own count of the time that its thread takes: 11
 * to 13 µs for a script that does nothing, and some 30 µs for each operation of the ledger in it. The rest is chosen.
 */
const usual: Omit<Scenario, "seed" | "processes" | "accounts" | "callsPerSecond" | "seconds" | "warmUpSeconds"> = {
  shards: 1,
  zipf: 1,
  leaseMs: 60_000,
  costs: { scriptMicros: 12, operationMicros: 30 },
  network: { tripMs: [0.3, 0.6], lost: 0, repeated: 0 },
  kills: 0,
  failover: undefined,
};

/** A number of stores, and how many calls a second come to all of them. */
export interface Load {
  readonly shards: number;
  readonly callsPerSecond: number;
}

/** 1,000 processes, a million accounts and so many calls a second, with nothing that fails. */
export function loadScenario({ shards, callsPerSecond }: Load, seconds: number, seed = 1): Scenario {
  return {
    ...{ ...usual, seed, shards, callsPerSecond, seconds },
    ...{ processes: 1_000, accounts: 1_000_000, warmUpSeconds: (seconds * 2) / 3 },
  };
}

/** The same number of them, with everything that may fail. */
export function faultScenario(shards: number, seed = 1): Scenario {
  return {
    ...{ ...usual, seed, shards, processes: 1_000, accounts: 1_000_000 },
    ...{ callsPerSecond: 2_500, seconds: 30, warmUpSeconds: 5, kills: 50 },
    network: { tripMs: [0.3, 0.6], lost: 0.001, repeated: 0.001 },
    failover: { lagMs: 100, awayMs: 1_000 },
  };
}

/** Small enough for a test, with shorter leases, so that they end within it. */
export function smallScenario(seed: number, changes: Partial<Scenario> = {}): Scenario {
  return {
    ...{ ...usual, seed, processes: 20, accounts: 2_000, leaseMs: 3_000 },
    ...{ callsPerSecond: 300, seconds: 6, warmUpSeconds: 1 },
    ...changes,
  };
}
