import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import type { DeductRequest, PrepaidState, TopUpRequest } from "../../../src/ledger/limits.js";

/**
 * What becomes of an operation: `ok`; `refused`: it fails and has no effect; `lost`: it takes effect, and its answer is lost;
 * `hung`: neither an effect nor an answer, ever; `mute`: it takes effect, and never answers; a number: it takes effect and
 * answers after so many milliseconds.
 */
export type Fate = "ok" | "refused" | "lost" | "hung" | "mute" | number;

type Operation = Exclude<keyof CreditLedger, "close" | "onReconnected">;

export interface FaultyLedger extends CreditLedger {
  /** For the next operations, one each; then it is {@link FaultyLedger.otherwise}. */
  fates: Fate[];
  otherwise: Fate;
  /** The operations that arrived, in their order. */
  readonly arrived: Operation[];
  /** As when the connection is there again. */
  reconnect(): void;
  readonly listeners: Set<() => void>;
  /** Another store takes the place of this one. */
  replaceBy(ledger: CreditLedger): void;
}

/** A ledger whose store fails as the test wants. */
export function faultyLedger(store: CreditLedger): FaultyLedger {
  const listeners = new Set<() => void>();
  let ledger = store;

  const run = async <Result>(name: Operation, operate: () => Promise<Result>): Promise<Result> => {
    faulty.arrived.push(name);
    const fate = faulty.fates.shift() ?? faulty.otherwise;
    if (fate === "refused") throw new Error("ECONNREFUSED");
    if (fate === "hung") return new Promise<never>(() => {});
    if (typeof fate === "number") await new Promise((resolve) => setTimeout(resolve, fate));
    const result = await operate();
    if (fate === "mute") return new Promise<never>(() => {});
    if (fate === "lost") throw new Error("ECONNRESET");
    return result;
  };

  const faulty: FaultyLedger = {
    ...(store.keepsLimits !== undefined && { keepsLimits: store.keepsLimits }),
    ...(store.topUp !== undefined && { topUp: (request) => run("topUp", () => toppedUp(ledger, request)) }),
    ...(store.deduct !== undefined && { deduct: (request) => run("deduct", () => deducted(ledger, request)) }),
    ...(store.sweep !== undefined && { sweep: () => run("sweep", async () => (await ledger.sweep?.()) ?? 0) }),
    fates: [],
    otherwise: "ok",
    arrived: [],
    listeners,
    reserve: (request) => run("reserve", () => ledger.reserve(request)),
    renew: (requests) => run("renew", () => ledger.renew(requests)),
    settle: (lease, settlement) => run("settle", () => ledger.settle(lease, settlement)),
    release: (lease, rates) => run("release", () => ledger.release(lease, rates)),
    balance: (account, limits, of) => run("balance", () => ledger.balance(account, limits, of)),
    grant: (request) => run("grant", () => ledger.grant(request)),
    reset: (account, windows) => run("reset", () => ledger.reset(account, windows)),
    history: (request) => run("history", async () => (await ledger.history?.(request)) ?? { entries: [] }),
    forget: (account) => run("forget", () => ledger.forget(account)),
    close: () => ledger.close(),
    onReconnected: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    reconnect: () => {
      for (const listener of listeners) listener();
    },
    replaceBy: (other) => {
      ledger = other;
    },
  };
  return faulty;
}

function toppedUp({ topUp }: CreditLedger, request: TopUpRequest): Promise<PrepaidState> {
  if (topUp === undefined) throw new Error("The other store keeps no prepaid credits.");
  return topUp(request);
}

function deducted({ deduct }: CreditLedger, request: DeductRequest): Promise<PrepaidState> {
  if (deduct === undefined) throw new Error("The other store keeps no prepaid credits.");
  return deduct(request);
}
