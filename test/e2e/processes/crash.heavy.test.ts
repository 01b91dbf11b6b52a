import { describeCrashes } from "./crash-suite.js";

// One death at each point. Hundreds of them are in test/e2e/soak.
describeCrashes({ crashes: 5 });
