import { observedRules } from "../books/observed-rules.js";
import type { TrueBooks } from "../books/true-books.js";
import type { VirtualWorld } from "../engine/virtual-world.js";
import type { Scenario } from "../scenario.js";
import { Replica } from "./replica.js";
import { storeRules } from "./store-rules.js";
import { StoreServer } from "./store-server.js";

/** How many accounts one memory ledger has about. */
const accountsPerPart = 8_000;

type Work = Readonly<Record<"scripts" | "operations" | "busyMs", number>>;

const noWork: Work = { scripts: 0, operations: 0, busyMs: 0 };

/** A store of a run, which fails over in the middle of it if the scenario says so. */
export class StoreOfRun {
  readonly server: StoreServer;
  /** Operations that a failure has taken back though they were acknowledged. */
  lostOperations = 0;
  /** What the server has done while loads were measured. */
  measured: Work = noWork;

  constructor(world: VirtualWorld, books: TrueBooks, scenario: Scenario) {
    const { accounts, shards, failover, costs, seconds, warmUpSeconds } = scenario;
    const parts = Math.ceil(accounts / shards / accountsPerPart);
    const clock = world.clock();
    const replica = failover && new Replica(clock, failover.lagMs, parts);
    const server = new StoreServer({
      ...{ world, costs },
      rules: observedRules(storeRules(clock, parts), books),
      onDone: replica && ((operation) => replica.add(operation)),
    });
    this.server = server;
    let before: Work = noWork;
    world.afterAlways(warmUpSeconds * 1_000, () => {
      before = workOf(server);
    });
    world.afterAlways(seconds * 1_000, () => {
      this.measured = workSince(before, server);
    });
    if (failover === undefined || replica === undefined) return;
    world.afterAlways((seconds / 2) * 1_000, () => {
      server.fail();
      this.lostOperations = replica.promote();
      world.afterAlways(failover.awayMs, () => server.comeBack(observedRules(replica.rules, books)));
    });
  }
}

function workOf({ scripts, operations, busyMs }: StoreServer): Work {
  return { scripts, operations, busyMs };
}

function workSince(before: Work, { scripts, operations, busyMs }: StoreServer): Work {
  return {
    scripts: scripts - before.scripts,
    operations: operations - before.operations,
    busyMs: busyMs - before.busyMs,
  };
}
