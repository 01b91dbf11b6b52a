import { createServer, type Server } from "node:http";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createGateway } from "../../../../src/gateway/create-gateway.js";
import type { Gateway } from "../../../../src/gateway/gateway.js";
import { toNodeHandler } from "../../../../src/node.js";
import { openAICompatible } from "../../../../src/providers/openai-compatible.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore, memoryPlanStore } from "../../../../src/stores/memory/memory-stores.js";
import { type FakeUpstream, startFakeUpstream } from "../../../../src/testing.js";
import { listenOn, toHost } from "../../../support/adapters/host.js";
import { smallModel } from "../../../support/test-gateway.js";
import { LaggingBalancer } from "./lagging-balancer.js";

interface Replica {
  readonly gateway: Gateway;
  readonly server: Server;
  readonly origin: string;
}

let upstream: FakeUpstream;
let replicas: Replica[] = [];
const ledger = memoryCreditLedger();

beforeEach(async () => {
  upstream = await startFakeUpstream();
});

afterEach(async () => {
  await Promise.all(replicas.map((replica) => stop(replica)));
  replicas = [];
  await upstream.close();
});

async function startReplica(): Promise<Replica> {
  const gateway = createGateway({
    models: [smallModel],
    keys: memoryKeyStore([{ key: "sk-one", account: "one", plan: "basic" }]),
    plans: memoryPlanStore({ basic: { models: ["*"], credits: { session: 1000 } } }),
    ledger,
    providers: { fake: openAICompatible({ baseURL: upstream.url }) },
  });
  const server = await listenOn(createServer(toNodeHandler(gateway)));
  const replica = { gateway, server, origin: toHost(server).origin ?? "" };
  replicas.push(replica);
  return replica;
}

/** What a host does at the end of its process. */
async function stop({ gateway, server }: Replica): Promise<void> {
  server.close();
  await gateway.close();
  server.closeAllConnections();
}

/** Restarts all replicas, one after another. @param leave - what the host does before it stops one. */
async function restartAll(balancer: LaggingBalancer, leave: (replica: Replica) => Promise<void>): Promise<void> {
  for (const old of [...replicas]) {
    await leave(old);
    await stop(old);
    balancer.remove(old.origin);
    balancer.add((await startReplica()).origin);
    await balancer.polled(2);
  }
}

/** Calls the model until `isOver`, whole and streamed. @returns what went wrong, and who served how many. */
async function load(
  balancer: LaggingBalancer,
  isOver: () => boolean,
): Promise<{ lost: string[]; served: Set<string> }> {
  const lost: string[] = [];
  const served = new Set<string>();
  const client = async (stream: boolean): Promise<void> => {
    while (!isOver()) {
      try {
        const { origin, response } = await balancer.fetch("/v1/chat/completions", {
          method: "POST",
          headers: { authorization: "Bearer sk-one", "content-type": "application/json" },
          body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "Hello" }], stream }),
        });
        const text = await response.text();
        const isWhole = stream ? text.endsWith("data: [DONE]\n\n") : text.includes('"finish_reason":"stop"');
        if (response.status !== 200 || !isWhole) lost.push(`${response.status} ${text}`);
        served.add(origin);
      } catch (error) {
        lost.push(String(error));
      }
    }
  };
  await Promise.all(Array.from({ length: 12 }, (_, index) => client(index % 2 === 0)));
  return { lost, served };
}

async function restartUnderLoad(leave: (replica: Replica, balancer: LaggingBalancer) => Promise<void>) {
  await Promise.all([startReplica(), startReplica(), startReplica()]);
  const balancer = new LaggingBalancer(30);
  for (const { origin } of replicas) balancer.add(origin);
  await balancer.start();
  let isOver = false;
  const restarting = restartAll(balancer, (replica) => leave(replica, balancer)).finally(() => {
    isOver = true;
  });
  const loaded = await load(balancer, () => isOver);
  await restarting;
  return loaded;
}

it("a rolling restart loses no request", async () => {
  const { lost, served } = await restartUnderLoad(async ({ gateway }, balancer) => {
    gateway.drain();
    // Meanwhile the balancer still sends requests.
    await balancer.polled(2);
  });
  expect(lost).toEqual([]);
  expect(served.size).toBe(6);
});

it("without draining, a lagging balancer loses some", async () => {
  const { lost } = await restartUnderLoad(async () => {});
  expect(lost).not.toEqual([]);
});
