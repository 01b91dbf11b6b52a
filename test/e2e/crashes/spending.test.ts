import {
  describeCrashingServers,
  describeKilledSpenders,
  describeSpending,
} from "../processes/spending/spending-suite.js";

const { SPENDING_KILLS, SPENDING_CRASHES } = process.env;

describeSpending({ processes: 8, tasks: 16, calls: 60, budget: 10_000, cold: 300 });
describeKilledSpenders({ kills: Number(SPENDING_KILLS ?? 200), tasks: 16, budget: 100_000, cold: 100, lotMs: 5_000 });
describeCrashingServers({ crashes: Number(SPENDING_CRASHES ?? 10), processes: 4, tasks: 8, budget: 100_000, cold: 50 });
