import { llmops } from "@llmops/sdk";
import { serve } from "srvx/node";

/** Without a database, the providers in its configuration: no keys, no limits, no record of what was used. */
export async function start({ upstreamOrigin }) {
  const providers = [{ provider: "openai", slug: "bench", apiKey: "sk-upstream", customHost: `${upstreamOrigin}/v1` }];
  const { handler } = llmops({ basePath: "/llmops", providers });
  const server = serve({ fetch: handler, hostname: "127.0.0.1", port: 0, silent: true, gracefulShutdown: false });
  await server.ready();
  return server.node.server.address().port;
}
