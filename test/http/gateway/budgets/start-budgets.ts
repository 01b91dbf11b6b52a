import type { Plan } from "../../../../src/records/plans/plan-store.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryBudgetStore, memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatAnswer, ManualClock, wholeAnswer } from "../../../../src/testing.js";
import { type ClientServer, type ServerOptions, startServer } from "../../../e2e/clients/start-server.js";
import { chatRequest, freeModel, largeModel, smallModel } from "../../../support/test-gateway.js";

/** Monday noon. */
export const monday = Date.UTC(2026, 0, 5, 12);

/** One credit a call: 100,000 completion tokens at 10 micro-credits. */
export const oneCredit = wholeAnswer(
  chatAnswer({ usage: { prompt_tokens: 10, completion_tokens: 100_000, total_tokens: 100_010 } }),
);

/** A call holds what it costs: one credit. */
const creditModel = {
  ...smallModel,
  contextLength: 1_000_000,
  maxOutputTokens: 100_000,
  price: { input: 0, output: 10 },
};

export interface BudgetServer extends ClientServer {
  clock: ManualClock;
  /** Makes a key of the account `acct_1`. @returns its secret. */
  keyOf(tags?: Record<string, string>, account?: string): Promise<string>;
  call(key: string, body?: Record<string, unknown>): Promise<Response>;
  /** A path of the gateway, as JSON. */
  read(key: string, path: string): Promise<Record<string, unknown>>;
}

interface BudgetOptions extends ServerOptions {
  plan?: Partial<Plan>;
}

/** Runs a test with a server of its own, whose only plan is unlimited but for what is given. */
export function withBudgets({ plan, ...options }: BudgetOptions, run: (server: BudgetServer) => Promise<void>) {
  return async () => {
    const clock = new ManualClock(monday);
    const server = await startServer({
      clock,
      ledger: memoryCreditLedger({ clock }),
      keys: memoryKeyStore([]),
      plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: null, ...plan } }),
      budgets: memoryBudgetStore(),
      models: [creditModel, largeModel, freeModel],
      ...options,
    });
    const call = (key: string, body: Record<string, unknown> = {}) => server.gateway.handler(chatRequest(body, key));
    const keyOf = async (tags?: Record<string, string>, account = "acct_1") =>
      (await server.gateway.keys.create({ account, plan: "pro", tags })).secret;
    const read = async (key: string, path: string) => {
      const headers = { authorization: `Bearer ${key}` };
      const response = await server.gateway.handler(new Request(`http://gateway.test${path}`, { headers }));
      return (await response.json()) as Record<string, unknown>;
    };
    try {
      await run({ ...server, clock, call, keyOf, read });
    } finally {
      await server.close();
    }
  };
}

export async function codeOf(response: Response): Promise<string> {
  return ((await response.json()) as { error?: { code: string } }).error?.code ?? "ok";
}
