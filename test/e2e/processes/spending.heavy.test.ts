import { describeKilledSpenders, describeSpending } from "./spending/spending-suite.js";

// Hundreds of kills, and longer runs, are in test/e2e/crashes.
describeSpending({ processes: 8, tasks: 8, calls: 12, budget: 1_500, cold: 20 });
describeKilledSpenders({ kills: 3, tasks: 8, budget: 20_000, cold: 20, lotMs: 500 });
