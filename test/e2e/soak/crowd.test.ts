import { describeCrowd } from "../processes/crowd-suite.js";

describeCrowd({ processes: 8, parallel: 64, credits: 1.5 });
