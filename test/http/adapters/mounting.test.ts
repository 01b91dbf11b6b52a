import { expect, it } from "vitest";
import { toExpressHandler } from "../../../src/express.js";
import { toFastifyPlugin } from "../../../src/fastify.js";
import { toFetchHandler, toRouteHandlers } from "../../../src/fetch.js";
import { type Gateway, handle } from "../../../src/gateway/gateway.js";
import { toNodeHandler } from "../../../src/node.js";
import { startTestGateway } from "../../support/test-gateway.js";

it.each([toExpressHandler, toFastifyPlugin, toNodeHandler, toFetchHandler, toRouteHandlers])(
  "%o refuses what is no gateway when it is mounted, not on the first request",
  (adapter) => {
    for (const wrong of [undefined, null, {}, { models: [] }]) {
      expect(() => adapter(wrong as unknown as Gateway)).toThrow(`${adapter.name}(gateway)`);
    }
  },
);

it("is mounted by a method that is not public, and that a copy of the gateway keeps", async () => {
  const { gateway, close } = await startTestGateway();
  expect(Object.keys(gateway)).not.toContain("handle");
  expect(() => toExpressHandler({ ...gateway })).not.toThrow();
  await close();
});

it("is mounted by an adapter of the other kind of module", () => {
  expect(Symbol.keyFor(handle)).toBe("infergate.handle");
});
