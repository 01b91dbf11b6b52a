import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { memoryPlanStore } from "../../../src/stores/memory/memory-stores.js";
import { type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
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
import { comparable, formReaders, type ReadPart } from "../../support/operations/uploads/form-readers.js";
import { mutatedForms, oddForms } from "../../support/operations/uploads/odd-forms.js";
import { rewritten } from "../../support/operations/uploads/rewritten.js";
import { readFormPath, type ServerConfig } from "./answer.js";
import { hasRuntime, type Runtime, startRuntime } from "./start-runtime.js";

let made: string;
let upstream: FakeUpstream;
let node: HostedGateway;

beforeAll(async () => {
  made = await mkdtemp(join(tmpdir(), "infergate-runtimes-"));
  upstream = await startFakeUpstream();
  upstream.reply(hostUpstream);
  const options = {
    ...{ models: hostModels, plans: memoryPlanStore(everyPlan), maxUploadBytes: mostUploadBytes },
    providers: {
      fake: openAICompatible({ baseURL: upstream.url, operations: everyOperation }),
      busy: openAICompatible({ baseURL: busyServer(upstream.url), operations: everyOperation }),
    },
  };
  node = await startHosted(nodeAdapter, { prefix: "/api/ai", position: "before" }, options);
});

afterAll(async () => {
  await node.close();
  await upstream.close();
  await rm(made, { recursive: true, force: true });
});

async function serve(fetchFrom: (path: string, init: RequestInit) => Promise<Response>, request: HostRequest) {
  const before = upstream.requests.length;
  const response = await fetchFrom(`/api/ai${request.path}`, toInit(request));
  return await servedAs(response, upstream.requests.slice(before));
}

describe.each(["bun", "deno", "workerd"] as const)("%s", (name) => {
  let runtime: Runtime | undefined;
  beforeAll(async () => {
    const config: ServerConfig = {
      ...{
        upstream: upstream.url,
        busy: busyServer(upstream.url),
        models: hostModels,
        operations: everyOperation,
        plans: everyPlan,
      },
      maxUploadBytes: mostUploadBytes,
    };
    if (hasRuntime(name)) runtime = await startRuntime(name, config, { made });
  });
  afterAll(() => runtime?.close());

  const call = (path: string, init: RequestInit) => fetch(`${runtime?.origin}${path}`, init);

  it.skipIf(!hasRuntime(name)).each(hostRequests.map((request) => [request.name, request] as const))(
    "serves %s as Node does",
    async (_name, request) => {
      const expected = await serve((path, init) => node.host.fetch(path, init), request);
      expect(expected.status).toBe(request.status);
      expect(await serve(call, request)).toEqual(expected);
    },
  );

  it.skipIf(!hasRuntime(name))("reads the forms that the gateway writes as Node does", async () => {
    let accepted = 0;
    for (const form of [...oddForms.map(([, odd]) => odd), ...fc.sample(mutatedForms, 600)]) {
      const sent = await rewritten(form);
      if (sent === undefined) continue;
      accepted++;
      const { type, body } = sent;
      const init = { method: "POST", headers: { "content-type": type }, body: new Uint8Array(body) };
      const read = (await (await call(readFormPath, init)).json()) as ReadPart[];
      const expected = await formReaders["Response.formData"]?.(sent);
      const text = body.toString("latin1");
      expect([text, comparable(read)]).toEqual([text, comparable(expected ?? [])]);
    }
    expect(accepted).toBeGreaterThan(60);
  });
});
