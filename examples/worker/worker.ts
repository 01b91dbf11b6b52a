import { env } from "cloudflare:workers";
import { toFetchHandler } from "infergate/fetch";
import { makeGateway } from "./gateway.js";

const gateway = makeGateway(env);

export default {
  /** It takes `waitUntil` from the context by itself. */
  fetch: toFetchHandler(gateway),
  /** Each minute: ends the holds of calls whose isolate died. */
  async scheduled(): Promise<void> {
    await gateway.sweep();
  },
};
