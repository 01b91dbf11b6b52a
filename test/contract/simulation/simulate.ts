import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import { shardedLedger } from "../../../src/ledger/sharded-ledger.js";
import { type Audit, audit } from "./books/audit.js";
import { ClientFigures } from "./books/client-figures.js";
import { TrueBooks } from "./books/true-books.js";
import { Connection } from "./clients/connection.js";
import { GatewayProcess } from "./clients/gateway-process.js";
import { queuedLedger } from "./clients/queued-ledger.js";
import { Traffic } from "./clients/traffic.js";
import type { Owner } from "./engine/event-heap.js";
import { Random } from "./engine/random.js";
import { VirtualWorld } from "./engine/virtual-world.js";
import { withVirtualGlobals } from "./engine/with-virtual-globals.js";
import { type Figures, figuresOf } from "./figures.js";
import type { Scenario } from "./scenario.js";
import { StoreOfRun } from "./store/store-of-run.js";

/** Runs a scenario to its end: the same figures for the same scenario, on any machine. */
export async function simulate(scenario: Scenario): Promise<Figures> {
  const world = new VirtualWorld();
  const random = new Random(scenario.seed);
  const traffic = new Traffic(scenario.accounts, scenario.zipf);
  const books = new TrueBooks(world, traffic, scenario.accounts);
  const clients = new ClientFigures(scenario.warmUpSeconds * 1_000, scenario.seconds * 1_000);
  const stores = Array.from({ length: scenario.shards }, () => new StoreOfRun(world, books, scenario));
  const connect = (owner: Owner): CreditLedger =>
    spreadOver(stores, ({ server }) => {
      const { network } = scenario;
      return queuedLedger(new Connection({ world, random: random.fork(), network, server, owner }));
    });
  const start = (): GatewayProcess =>
    new GatewayProcess({
      ...{ world, random: random.fork(), traffic, books, figures: clients, leaseMs: scenario.leaseMs, connect },
      pauseMs: (1_000 * scenario.processes) / scenario.callsPerSecond,
      endsAtMs: scenario.seconds * 1_000,
    });

  const audited = await withVirtualGlobals(world, random.fork().next, async (): Promise<Audit> => {
    const processes = Array.from({ length: scenario.processes }, start);
    killSome(world, random.fork(), scenario, processes, start);
    await world.run();
    // The holds of the dead are over by then.
    world.now += scenario.leaseMs + 1;
    const whole = spreadOver(stores, ({ server }) => server.rules);
    return await audit(whole, books.calls, traffic, world.clock().now());
  });
  return figuresOf({ scenario, world, books, clients, stores, audited });
}

/** The ledger of the only store, or of all of them together. */
function spreadOver(stores: readonly StoreOfRun[], ledgerOf: (store: StoreOfRun) => CreditLedger): CreditLedger {
  const [only] = stores;
  if (stores.length === 1 && only !== undefined) return ledgerOf(only);
  return shardedLedger({
    shards: Object.fromEntries(stores.map((store, index) => [`redis-${index}`, ledgerOf(store)])),
  });
}

/** Kills processes at random moments, and starts another in the place of each. */
function killSome(
  world: VirtualWorld,
  random: Random,
  { kills, seconds }: Scenario,
  processes: GatewayProcess[],
  start: () => GatewayProcess,
): void {
  for (let kill = 0; kill < kills; kill++) {
    world.afterAlways(random.between(0, seconds * 1_000), () => {
      const place = Math.floor(random.next() * processes.length);
      processes[place]?.kill();
      processes[place] = start();
    });
  }
}
