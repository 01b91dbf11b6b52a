import type { Audit } from "./books/audit.js";
import { type ClientFigures, percentile } from "./books/client-figures.js";
import type { TrueBooks } from "./books/true-books.js";
import type { VirtualWorld } from "./engine/virtual-world.js";
import type { Scenario } from "./scenario.js";
import type { StoreOfRun } from "./store/store-of-run.js";

/** What came of a run. */
export interface Figures extends Audit {
  readonly calls: number;
  readonly admitted: number;
  readonly denied: number;
  readonly deniedAgain: number;
  readonly unavailable: number;
  /** While loads were measured. */
  readonly admittedPerSecond: number;
  readonly unavailablePerSecond: number;
  readonly reserveMs: { readonly p50: number; readonly p99: number; readonly most: number };
  /** Of the busiest store. */
  readonly utilisation: number;
  /** While loads were measured, of all stores. */
  readonly operationsPerSecond: number;
  readonly measuredOperationsPerScript: number;
  readonly operationsPerCall: number;
  readonly scriptsPerCall: number;
  readonly wrongDenials: number;
  readonly wrongByCrash: number;
  /** Below 1 where no admission overdraws its account by a whole request. */
  readonly mostOverdrawn: number;
  readonly blockedHolds: number;
  readonly blockedCreditSeconds: number;
  readonly mostBlocked: number;
  readonly lostOperations: number;
  readonly keptSettlements: number;
  readonly lostSettlements: number;
  readonly replayedSettlements: number;
  readonly virtualSeconds: number;
  readonly events: number;
}

export interface Run {
  readonly scenario: Scenario;
  readonly world: VirtualWorld;
  readonly books: TrueBooks;
  readonly clients: ClientFigures;
  readonly stores: readonly StoreOfRun[];
  readonly audited: Audit;
}

export function figuresOf({ scenario, world, books, clients, stores, audited }: Run): Figures {
  const measuredSeconds = scenario.seconds - scenario.warmUpSeconds;
  const operations = sum(stores, ({ server }) => server.operations);
  const scripts = sum(stores, ({ server }) => server.scripts);
  const calls = books.calls.length;
  const { latenciesMs, admitted, denied, deniedAgain, unavailableCalls } = clients;
  return {
    ...audited,
    ...{ calls, admitted, denied, deniedAgain, unavailable: unavailableCalls },
    admittedPerSecond: clients.measuredAdmitted / measuredSeconds,
    unavailablePerSecond: clients.measuredUnavailable / measuredSeconds,
    reserveMs: {
      p50: percentile(latenciesMs, 0.5),
      p99: percentile(latenciesMs, 0.99),
      most: percentile(latenciesMs, 1),
    },
    utilisation: Math.max(...stores.map(({ measured }) => measured.busyMs / 1_000 / measuredSeconds)),
    operationsPerSecond: sum(stores, ({ measured }) => measured.operations) / measuredSeconds,
    measuredOperationsPerScript:
      sum(stores, ({ measured }) => measured.operations) / sum(stores, ({ measured }) => measured.scripts),
    operationsPerCall: operations / calls,
    scriptsPerCall: scripts / calls,
    wrongDenials: books.wrongDenials,
    wrongByCrash: books.wrongByCrash,
    mostOverdrawn: books.mostOverdrawn,
    blockedHolds: books.blockedHolds,
    blockedCreditSeconds: books.blockedMicroSeconds / 1_000_000,
    mostBlocked: books.mostBlocked,
    lostOperations: sum(stores, ({ lostOperations }) => lostOperations),
    keptSettlements: clients.keptSettlements,
    lostSettlements: clients.lostSettlements,
    replayedSettlements: clients.replayedSettlements,
    virtualSeconds: world.now / 1_000,
    events: world.happened,
  };
}

function sum(stores: readonly StoreOfRun[], of: (store: StoreOfRun) => number): number {
  return stores.reduce((total, store) => total + of(store), 0);
}
