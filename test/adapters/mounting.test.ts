import { expect, it } from "vitest";
import { toExpressHandler } from "../../src/express.js";
import { toFastifyPlugin } from "../../src/fastify.js";
import { toFetchHandler, toRouteHandlers } from "../../src/fetch.js";
import type { Gateway } from "../../src/gateway/gateway.js";
import { toNodeHandler } from "../../src/node.js";

it.each([toExpressHandler, toFastifyPlugin, toNodeHandler, toFetchHandler, toRouteHandlers])(
  "%o refuses what is no gateway when it is mounted, not on the first request",
  (adapter) => {
    for (const wrong of [undefined, null, {}, { models: [] }]) {
      expect(() => adapter(wrong as unknown as Gateway)).toThrow(`${adapter.name}(gateway)`);
    }
  },
);
