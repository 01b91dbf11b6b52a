import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { expressAdapter } from "../../support/adapters/express-adapter.js";
import { fastifyAdapter } from "../../support/adapters/fastify-adapter.js";
import { fetchAdapter, honoAdapter, routeHandlersAdapter } from "../../support/adapters/fetch-adapter.js";
import { type HostedGateway, startHosted } from "../../support/adapters/host.js";
import { nodeAdapter } from "../../support/adapters/node-adapter.js";
import { everyOperation, everyPlan } from "../../support/every-operation.js";
import {
  busyServer,
  type HostRequest,
  hostModels,
  hostRequests,
  hostUpstream,
  mostUploadBytes,
  servedAs,
  toInit,
} from "../../support/host-requests.js";

const adapters = [
  ...[nodeAdapter, expressAdapter("Express 4"), expressAdapter("Express 5"), fastifyAdapter("Fastify 4")],
  ...[fastifyAdapter("Fastify 5"), honoAdapter, routeHandlersAdapter, fetchAdapter],
];

let upstream: FakeUpstream;
const hosts: HostedGateway[] = [];

beforeAll(async () => {
  upstream = await startFakeUpstream();
  upstream.reply(hostUpstream);
  for (const adapter of adapters) {
    const options = {
      ...{ models: hostModels, plans: memoryPlanStore(everyPlan), maxUploadBytes: mostUploadBytes },
      providers: {
        fake: openAICompatible({ baseURL: upstream.url, operations: everyOperation }),
        busy: openAICompatible({ baseURL: busyServer(upstream.url), operations: everyOperation }),
      },
    };
    hosts.push(await startHosted(adapter, { prefix: "/api/ai", position: "before" }, options));
  }
});

afterAll(async () => {
  for (const host of hosts) await host.close();
  await upstream.close();
});

async function serve({ host, path }: HostedGateway, request: HostRequest) {
  const before = upstream.requests.length;
  const response = await host.fetch(path(request.path), toInit(request));
  return await servedAs(response, upstream.requests.slice(before));
}

describe.each(hostRequests.map((request) => [request.name, request] as const))("%s", (_name, request) => {
  it(`is served alike by ${adapters.map(({ name }) => name).join(", ")}`, async () => {
    const [first, ...others] = hosts as [HostedGateway, ...HostedGateway[]];
    const expected = await serve(first, request);
    expect(expected.status).toBe(request.status);
    for (const [at, host] of others.entries()) {
      expect([adapters[at + 1]?.name, await serve(host, request)]).toEqual([adapters[at + 1]?.name, expected]);
    }
  });
});
