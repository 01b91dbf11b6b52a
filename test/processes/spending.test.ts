import { describeKilledSpenders, describeSpending } from "./spending/spending-suite.js";

// Hundreds of kills, and longer runs, are in test/crashes.
describeSpending({ processes: 8, tasks: 8, calls: 20, budget: 2_000, cold: 40 });
describeKilledSpenders({ kills: 5, tasks: 8, budget: 20_000, cold: 20, lotMs: 500 });
