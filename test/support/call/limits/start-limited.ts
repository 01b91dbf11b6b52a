import type { Rates } from "../../../../src/prices/rates.js";
import type { ApiKey } from "../../../../src/records/keys/key-store.js";
import { hashKey } from "../../../../src/records/keys/managed-key.js";
import type { Plan } from "../../../../src/records/plans/plan-store.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { ManualClock } from "../../../../src/testing/manual-clock.js";
import { type ClientServer, type ServerOptions, startServer } from "../../../e2e/clients/start-server.js";
import { chatRequest } from "../../test-gateway.js";

/** Monday noon. */
export const monday = Date.UTC(2026, 0, 5, 12);

export interface LimitedServer extends ClientServer {
  clock: ManualClock;
  call(body?: Record<string, unknown>, key?: string): Promise<Response>;
  /** What `GET /v1/usage` says. */
  usage(key?: string): Promise<Record<string, unknown>>;
}

interface LimitedOptions extends ServerOptions {
  rates?: Rates;
  credits?: Plan["credits"];
  /** By the secrets. They are of the account `acct_pro`, and its plan. */
  limited?: Record<string, Partial<ApiKey>>;
}

/** A server whose plan and keys have limits, by a clock that stands still. `sk-pro` has none of its own. */
export async function startLimited({ rates, credits, limited, ...options }: LimitedOptions): Promise<LimitedServer> {
  const clock = new ManualClock(monday);
  const keys = new Map(
    Object.entries({ "sk-pro": {}, ...limited }).map(([secret, key]) => [
      hashKey(secret),
      { id: `key_${secret}`, account: "acct_pro", plan: "pro", ...key },
    ]),
  );
  const server = await startServer({
    clock,
    ledger: memoryCreditLedger({ clock }),
    keys: { find: (hash) => keys.get(hash) },
    plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: credits ?? null, rates: rates ?? null } }),
    ...options,
  });
  return {
    ...server,
    clock,
    call: (body = {}, key = "sk-pro") => server.gateway.handler(chatRequest(body, key)),
    async usage(key = "sk-pro") {
      const request = new Request("http://gateway.test/v1/usage", { headers: { authorization: `Bearer ${key}` } });
      return (await (await server.gateway.handler(request)).json()) as Record<string, unknown>;
    },
  };
}

/** Runs a test with a server of its own. */
export function withLimited(options: LimitedOptions, run: (server: LimitedServer) => Promise<void>) {
  return async () => {
    const server = await startLimited(options);
    try {
      await run(server);
    } finally {
      await server.close();
    }
  };
}

export async function errorOf(response: Response): Promise<{ code: string; type: string; message: string }> {
  return ((await response.json()) as { error: { code: string; type: string; message: string } }).error;
}

/** The headers of one kind of rate. */
export function rateHeaders(response: Response, kind: "requests" | "tokens"): (string | null)[] {
  return ["limit", "remaining", "reset"].map((what) => response.headers.get(`x-ratelimit-${what}-${kind}`));
}
