import { env } from "cloudflare:workers";
import { createGateway, openAICompatible } from "infergate";
import { toFetchHandler } from "infergate/fetch";
import type { ModuleScopeConfig } from "./module-scope-config.js";
import { remoteStores } from "./remote-stores.js";

const { upstream, stores, model, options }: ModuleScopeConfig = JSON.parse(
  (env as unknown as { CONFIG: string }).CONFIG,
);

/** As docs have it: at module scope, once for all requests of the isolate. */
const gateway = createGateway({
  models: [model],
  ...remoteStores(stores),
  providers: { fake: openAICompatible({ baseURL: upstream }) },
  ...options,
});

export default {
  fetch: toFetchHandler(gateway),
  scheduled: () => gateway.sweep(),
};
