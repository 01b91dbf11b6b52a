import type { CreditLedger, KeyStore, PlanStore, RequestLog } from "infergate";

/** Stores in another process, each method a request over HTTP, as drivers of databases for Workers have it. */
export function remoteStores(url: string): {
  keys: KeyStore;
  plans: PlanStore;
  ledger: CreditLedger;
  requestLog: RequestLog;
} {
  const ask =
    (store: string, method: string) =>
    async (...args: unknown[]) => {
      const response = await fetch(`${url}/${store}/${method}`, { method: "POST", body: JSON.stringify(args) });
      const { result, error } = (await response.json()) as { result?: unknown; error?: string };
      if (error !== undefined) throw new Error(error);
      return result;
    };
  const store = <Store>(name: string, methods: readonly string[]): Store =>
    Object.fromEntries(methods.map((method) => [method, ask(name, method)])) as Store;
  return {
    keys: store("keys", ["find", "touch"]),
    plans: store("plans", ["find"]),
    ledger: {
      ...store<CreditLedger>("ledger", ["reserve", "renew", "settle", "release", "balance", "sweep"]),
      keepsLimits: true,
    },
    requestLog: store("requestLog", ["write", "list", "get", "counts", "forget"]),
  };
}
