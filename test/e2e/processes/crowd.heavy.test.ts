import { describeCrowd } from "./crowd-suite.js";

// The full crowd is in test/e2e/soak.
describeCrowd({ processes: 2, parallel: 16, credits: 0.1 });
