import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { setImmediate as turn } from "node:timers/promises";
import { afterEach, describe, expect, it } from "vitest";
import type { RequestCompleted } from "../../../../src/events/request-completed.js";
import { createGateway } from "../../../../src/gateway/create-gateway.js";
import type { Model } from "../../../../src/gateway/models/model.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { collectGarbage } from "../../../support/collect-garbage.js";
import { chatRequest } from "../../../support/test-gateway.js";

const swaps = 10_000;
const clients = 4;
/** Between these numbers, every generation has a number of its own: in its price, its cap and its upstream model. */
const leastCap = 100_000;

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** An upstream that keeps nothing: it says in the answer's id which model and which cap it was asked for. */
async function startEcho(): Promise<{ url: string; server: Server; sockets: () => Promise<number> }> {
  const server = createServer({ keepAliveTimeout: 60_000 }, async (message, response) => {
    let text = "";
    for await (const part of message) text += part;
    const { model, max_tokens: cap } = JSON.parse(text);
    const choice = { index: 0, message: { role: "assistant", content: "Hi." }, finish_reason: "stop" };
    const usage = { prompt_tokens: 9, completion_tokens: 3, total_tokens: 12 };
    response.setHeader("content-type", "application/json");
    response.end(JSON.stringify({ id: `chatcmpl-${model}:${cap}`, model, created: 1, choices: [choice], usage }));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  const sockets = () =>
    new Promise<number>((resolve, reject) =>
      server.getConnections((error, count) => (error === null ? resolve(count) : reject(error))),
    );
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, server, sockets };
}

function generation(number: number): Model {
  return {
    id: "acme/small",
    type: "chat",
    contextLength: 10_000_000,
    maxOutputTokens: leastCap + number,
    price: { input: 0, output: 0, request: number / 1_000_000 },
    upstream: { provider: "echo", model: `up-${number}` },
  };
}

describe("10,000 changes of the catalog under load", () => {
  it("show no request two catalogs, and leave nothing behind", { timeout: 180_000 }, async () => {
    const { url, sockets } = await startEcho();
    const events = new Map<string, RequestCompleted>();
    const provider = (number: number) => openAICompatible({ baseURL: url, headers: { "x-server": String(number) } });
    const gateway = createGateway({
      models: [generation(1)],
      keys: memoryKeyStore([{ key: "sk-pro", account: "acct", plan: "pro" }]),
      plans: memoryPlanStore({ pro: { models: ["acme/*"], credits: { month: 9_000_000 } } }),
      // A journal would keep a little of each call, of which there are more on a faster machine.
      ledger: memoryCreditLedger({ historyEntries: 0 }),
      providers: { echo: provider(0) },
      // The catalog changes between the check of a call and its hold.
      onRequest: () => turn(),
      onRequestCompleted: (event) => events.set(event.requestId, event),
      onWarning: () => {},
    });
    closers.push(() => gateway.close());
    let isOver = false;
    let calls = 0;
    const mixed: unknown[] = [];
    const seen = new Set<string>();
    const client = async (): Promise<void> => {
      while (!isOver) {
        const response = await gateway.handler(chatRequest({ max_tokens: 9_000_000 }));
        const text = await response.text();
        await turn();
        const id = response.headers.get("x-request-id") ?? "";
        const event = events.get(id);
        events.delete(id);
        calls++;
        const asked = /"chatcmpl-up-(\d+):(\d+)"/.exec(text);
        const number = Number(asked?.[1]);
        const found = [response.status, event?.chargedMicro, event?.heldMicro, Number(asked?.[2]) - leastCap];
        if (String(found) !== String([200, number, number, number])) mixed.push({ number, found, text });
        seen.add(String(number));
      }
    };
    const running = Array.from({ length: clients }, client);
    const swapUpTo = async (from: number, to: number): Promise<void> => {
      for (let number = from; number <= to; number++) {
        // Every so often another server takes the place of the one before.
        const providers = number % 250 === 0 ? { echo: provider(number) } : undefined;
        gateway.update(
          providers === undefined ? { models: [generation(number)] } : { models: [generation(number)], providers },
        );
        await turn();
      }
    };
    await swapUpTo(2, swaps / 5);
    collectGarbage();
    const before = process.memoryUsage().heapUsed;
    await swapUpTo(swaps / 5 + 1, swaps);
    collectGarbage();
    const grown = process.memoryUsage().heapUsed - before;
    const open = await sockets();
    isOver = true;
    await Promise.all(running);

    expect(mixed.slice(0, 3)).toEqual([]);
    expect(seen.size).toBeGreaterThan(200);
    expect(calls).toBeGreaterThan(500);
    // Catalogs that are kept would be several times as much.
    expect(grown).toBeLessThan(6_000_000);
    expect(open).toBeLessThanOrEqual(3 * clients);
    expect(gateway.health().models["acme/small"]?.targets).toMatchObject([{ model: `up-${swaps}` }]);
  });
});
