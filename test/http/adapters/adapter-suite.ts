import { describe } from "vitest";
import type { Adapter, Place } from "../../support/adapters/host.js";
import { describeBaseURLs } from "./base-urls-suite.js";
import { describeBodies } from "./bodies-suite.js";
import { describeCalls } from "./calls-suite.js";
import { describeConnections } from "./connections-suite.js";
import { describeDepartures } from "./departures-suite.js";
import { describeFlow } from "./flow-suite.js";
import { watchProcess } from "./process-watch.js";
import { describeRouting } from "./routing-suite.js";

const places: readonly Place[] = [
  { prefix: "", position: "before" },
  { prefix: "", position: "after" },
  { prefix: "/api/ai", position: "before" },
  { prefix: "/api/ai", position: "after" },
];

/** What holds wherever the gateway is mounted. */
export function describeAdapter(adapter: Adapter): void {
  watchProcess();
  describe.each(places)(`${adapter.name}, prefix "$prefix", $position the host's routes:`, (place) => {
    describeRouting(adapter, place);
    // At the root, hosts with web-standard requests hand the gateway its own paths alone.
    if (adapter.passesOn || place.prefix !== "") describeBaseURLs(adapter, place);
    describeCalls(adapter, place);
    // The rest knows nothing of the place: once is enough.
    if (place.prefix === "" || place.position === "after") return;
    describeBodies(adapter, place);
    describeDepartures(adapter, place);
    describeFlow(adapter, place);
    if (adapter.hasServer) describeConnections(adapter, place);
  });
}
