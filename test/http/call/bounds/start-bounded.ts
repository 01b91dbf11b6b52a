import type { Model } from "../../../../src/gateway/models/model.js";
import type { Dialect } from "../../../../src/protocols/shared/dialect.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import type { Plan } from "../../../../src/records/plans/plan-store.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { type FakeUpstream, startFakeUpstream } from "../../../../src/testing.js";
import { type ClientServer, type ServerOptions, startServer } from "../../../e2e/clients/start-server.js";
import { smallModel } from "../../../support/test-gateway.js";
import { greedy, type Protocol } from "./greedy-upstream.js";

export interface BoundedServer extends ClientServer {
  /** A request in the client's protocol, over HTTP, with what the protocol requires. */
  call(client: Protocol, members?: Record<string, unknown>, headers?: Record<string, string>): Promise<Response>;
}

export interface BoundedOptions extends ServerOptions {
  /** What the upstream speaks, and nothing else. */
  readonly target: Protocol;
  readonly dialect?: Dialect;
  readonly model?: Partial<Model>;
  readonly plan?: Partial<Plan>;
}

/** 10 micro-credits a token of output, 1 of the prompt. At most 64,000 tokens of output. */
export const bigModel: Model = {
  ...smallModel,
  maxOutputTokens: 64_000,
  price: { input: 1, output: 10 },
};

/** A gateway on loopback before one upstream, whose model writes as much as it may. */
export async function startBounded(options: BoundedOptions): Promise<BoundedServer> {
  const { target, dialect, model, plan, ...others } = options;
  const upstream: FakeUpstream = await startFakeUpstream();
  const used = { ...bigModel, ...model };
  upstream.reply(greedy(used.maxOutputTokens ?? used.contextLength ?? 0));
  const server = await startServer({
    models: [used],
    ledger: memoryCreditLedger(),
    keys: memoryKeyStore([{ key: "sk-pro", account: "acct_pro", plan: "pro" }]),
    plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: null, ...plan } }),
    providers: {
      fake: openAICompatible({ baseURL: upstream.url, operations: [target], ...(dialect && { dialect }) }),
    },
    ...others,
  });
  return {
    ...server,
    upstream,
    call: (client, members = {}, headers = {}) =>
      fetch(`${server.baseURL}/${client}`, {
        method: "POST",
        headers: { authorization: "Bearer sk-pro", "content-type": "application/json", ...headers },
        body: JSON.stringify({ model: used.id, ...promptOf(client), ...members }),
      }),
    close: async () => {
      await server.close();
      await upstream.close();
    },
  };
}

function promptOf(client: Protocol): Record<string, unknown> {
  return client === "responses" ? { input: "Say hello." } : { messages: [{ role: "user", content: "Say hello." }] };
}

/** Runs a test with a server of its own. */
export function withBounded(options: BoundedOptions, run: (server: BoundedServer) => Promise<void>) {
  return async () => {
    const server = await startBounded(options);
    try {
      await run(server);
    } finally {
      await server.close();
    }
  };
}
