import { simulate } from "/tmp/w/sim/test/simulation/simulate.js";
import { smallScenario, faultScenario, loadScenario } from "/tmp/w/sim/test/simulation/scenario.js";
const which = process.argv[2] ?? "small";
const t = Date.now();
const s = which === "small" ? smallScenario(1) : which === "faults" ? smallScenario(1, { kills: 4, network: { tripMs: [0.3, 0.6], lost: 0.01, repeated: 0.01 } }) :
 which === "failover" ? smallScenario(1, { kills: 4, shards: 2, network: { tripMs: [0.3, 0.6], lost: 0.01, repeated: 0.01 }, failover: { lagMs: 100, awayMs: 1000 } }) :
 which === "load" ? loadScenario(Number(process.argv[3]), Number(process.argv[4] ?? 1)) : faultScenario(Number(process.argv[3] ?? 1));
simulate(s).then((f) => { console.log(f); console.log((Date.now() - t) / 1000, "s", process.memoryUsage().rss / 1e6); });
