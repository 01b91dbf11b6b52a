import { describeRun } from "./run/run-suite.js";

// 10,000 calls are in test/crashes: npm run test:books.
describeRun({ calls: 400, callsPerKill: 50 });
