import { neon } from "@neondatabase/serverless";
import { createGateway, openAICompatible } from "infergate";
import { postgresStores } from "infergate/postgres";

export interface GatewayEnv {
  readonly DATABASE_URL: string;
  /** The same for all isolates: `openssl rand -base64 32`. */
  readonly GATEWAY_SECRET: string;
  readonly UPSTREAM_BASE_URL: string;
  readonly UPSTREAM_API_KEY?: string | undefined;
  readonly UPSTREAM_MODEL?: string | undefined;
}

/** One gateway serves all requests of an isolate. To make it touches neither the network nor the clock. */
export function makeGateway(env: GatewayEnv) {
  const { accounts, requestLog, ...stores } = makeStores(env.DATABASE_URL);
  return createGateway({
    models: [
      {
        id: "acme/small",
        type: "chat",
        contextLength: 128_000,
        maxOutputTokens: 1024,
        // In credits per million tokens.
        price: { input: 0.15, output: 0.6 },
        upstream: { provider: "upstream", model: env.UPSTREAM_MODEL ?? "gpt-4o-mini" },
      },
    ],
    ...stores,
    ...{ accounts, requestLog },
    secret: env.GATEWAY_SECRET,
    providers: { upstream: openAICompatible({ baseURL: env.UPSTREAM_BASE_URL, apiKey: env.UPSTREAM_API_KEY }) },
    // A database that sleeps takes some hundred milliseconds to wake up.
    ledgerOptions: { reserveTimeoutMs: 3_000, settleTimeoutMs: 5_000 },
    storeTimeoutMs: 5_000,
  });
}

/** Each statement is a request over HTTP: no connection outlives the request that has opened it. */
function makeStores(url: string) {
  const stores = postgresStores({ pool: neon(url, { fullResults: true }) });
  return { ...stores, accounts: stores.accounts, requestLog: stores.requestLog };
}
