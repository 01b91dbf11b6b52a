import { env } from "cloudflare:workers";
import { Redis } from "@upstash/redis/cloudflare";
import { createGateway, openAICompatible } from "infergate";
import { toFetchHandler } from "infergate/fetch";
import { fromUpstash, redisStores } from "infergate/redis";

const { REDIS_URL: url, REDIS_TOKEN: token, UPSTREAM_BASE_URL: baseURL } = env as unknown as Record<string, string>;
const client = new Redis({ url: url as string, token: token as string, automaticDeserialization: false });
const stores = redisStores({ client: fromUpstash(client), prefix: "worker" });

const gateway = createGateway({
  models: [
    {
      ...{ id: "acme/small", type: "chat", contextLength: 1000, price: { input: 1, output: 10 } },
      upstream: { provider: "fake", model: "m" },
    },
  ],
  ...stores,
  requestLog: stores.requestLog,
  providers: { fake: openAICompatible({ baseURL: baseURL as string }) },
  ledgerOptions: { reserveTimeoutMs: 30_000, settleTimeoutMs: 30_000 },
  storeTimeoutMs: 30_000,
});

export default { fetch: toFetchHandler(gateway) };
