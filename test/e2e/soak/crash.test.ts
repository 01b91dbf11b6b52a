import { describeCrashes } from "../processes/crash-suite.js";

describeCrashes({ crashes: Number(process.env["SOAK_CRASHES"] ?? 200) });
