import { describeRun } from "./run/run-suite.js";

// 10,000 calls are in test/e2e/crashes: npm run test:books.
describeRun({ calls: 400, callsPerKill: 50 });
