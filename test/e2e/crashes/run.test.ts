import { describeRun } from "../processes/run/run-suite.js";

describeRun({ calls: 10_000, callsPerKill: 250 });
