import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import {
  type GatewayRequest,
  type GatewayResponse,
  handle,
  type MountableGateway,
  tells,
} from "../../../src/gateway/gateway.js";
import { bridgeWebRequest } from "../../../src/gateway/web-bridge.js";
import type { AbortNotice } from "../../../src/providers/upstream-provider.js";
import { createGate } from "../../../src/testing.js";
import { expressAdapter } from "../../support/adapters/express-adapter.js";
import { fastifyAdapter } from "../../support/adapters/fastify-adapter.js";
import { fetchAdapter, honoAdapter } from "../../support/adapters/fetch-adapter.js";
import type { Adapter, Host } from "../../support/adapters/host.js";
import { nodeAdapter } from "../../support/adapters/node-adapter.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import { eventually, readPieces } from "./client.js";
import { stalled } from "./flood.js";
import { watchProcess } from "./process-watch.js";

const adapters: Adapter[] = [
  nodeAdapter,
  expressAdapter("Express 5"),
  fastifyAdapter("Fastify 5"),
  honoAdapter,
  fetchAdapter,
];

watchProcess();

/** What `GatewayResponse` requires of an adapter, whatever the pipeline makes of it today. */
describe.each(adapters)("$name", (adapter) => {
  let test: TestGateway;
  let host: Host;
  let answer: (request: GatewayRequest) => GatewayResponse["body"];
  beforeAll(async () => {
    test = await startTestGateway();
    const gateway: MountableGateway = {
      ...test.gateway,
      [handle]: async (request) => ({ status: 200, headers: { "content-type": "text/plain" }, body: answer(request) }),
      handler: (request) => bridgeWebRequest(gateway, request),
      [tells]: () => false,
    };
    host = await adapter.start(gateway, { prefix: "", position: "before" });
  });
  afterAll(async () => {
    await host.close();
    await test.close();
  });
  const get = (init: RequestInit = {}) => host.fetch("/v1/models", init);

  it("sends the headers before there is a piece, and each piece as it comes", async () => {
    const gate = createGate();
    answer = async function* () {
      await gate.pass();
      yield Buffer.from("first");
      await gate.pass();
      yield Buffer.from("second");
    };
    const response = await get();
    expect(response.status).toBe(200);
    gate.step();
    const pieces = readPieces(response);
    expect(await pieces.next()).toBe("first");
    gate.step();
    expect([await pieces.next(), await pieces.next()]).toEqual(["second", undefined]);
  });

  it.each(["waits for a piece", "does not read"])("tells that the client has gone when it %s", async (state) => {
    const flood = { written: 0 };
    let signal: AbortNotice | undefined;
    let returned = false;
    answer = async function* (request) {
      ({ signal } = request);
      const gone = new Promise<void>((resolve) => signal?.addEventListener("abort", resolve));
      try {
        yield Buffer.from("first");
        if (state === "waits for a piece") await gone;
        for (; flood.written < 3000; flood.written++) yield Buffer.alloc(64 * 1024);
      } finally {
        returned = true;
      }
    };
    const response = await get();
    const pieces = readPieces(response);
    expect(await pieces.next()).toMatch(/^first/);
    let pending: Promise<unknown> | undefined;
    if (state === "waits for a piece") pending = pieces.next();
    else await stalled(flood);
    await pieces.cancel();
    await eventually(() => signal?.aborted === true && returned);
    expect(flood.written).toBeLessThan(3000);
    expect(await pending).toBeUndefined();
  });

  it("does not tell so of a client that has got everything", async () => {
    const signals: AbortNotice[] = [];
    answer = ({ signal }) => {
      signals.push(signal);
      return signals.length % 2 === 0 ? "whole" : streamOf("whole");
    };
    for (let count = 0; count < 4; count++) expect(await (await get()).text()).toBe("whole");
    expect(signals.map(({ aborted }) => aborted)).toEqual([false, false, false, false]);
  });

  it("breaks the answer off when its stream fails", async () => {
    // Hono logs it.
    const logged = vi.spyOn(console, "error").mockImplementation(() => {});
    const gate = createGate();
    answer = async function* () {
      yield Buffer.from("first");
      await gate.pass();
      throw new Error("A bug.");
    };
    const response = await get();
    gate.open();
    await expect(response.text()).rejects.toThrow();
    logged.mockRestore();
  });
});

async function* streamOf(text: string): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.from(text);
}
