import { Agent, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toNodeHandler } from "../../../src/adapters/node.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryResponseStore } from "../../../src/stores/memory/memory-response-store.js";
import { memoryKeyStore } from "../../../src/stores/memory/memory-stores.js";
import type { FakeAnswer } from "../../../src/testing.js";
import { collectGarbage } from "../../support/collect-garbage.js";
import { bothServers } from "../../support/operations/responses/response-samples.js";
import { smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const streams = Number(process.env["SOAK_STREAMS"] ?? 20_000);
const parallel = 50;
const accounts = 20;

let test: TestGateway;
let port: number;
const ledger = memoryCreditLedger();
const agent = new Agent({ keepAlive: true, maxSockets: parallel });
const server = createServer((req, res) => toNodeHandler(test.gateway)(req, res));
const rejections: unknown[] = [];
const onRejection = (reason: unknown) => rejections.push(reason);

/** What becomes of a stream: a third of them ends badly. */
const fates = ["whole", "whole", "next", "next", "left", "cut"] as const;
type Fate = (typeof fates)[number];

const said = { text: "The quick brown fox jumps over the lazy dog." };
const answers = new Map<string, FakeAnswer>(
  bothServers.flatMap((kind): [string, FakeAnswer][] => [
    [`${kind.path} whole`, kind.stream(said)],
    [`${kind.path} next`, kind.stream(said)],
    [`${kind.path} left`, kind.stream({ ...said, isBroken: true }, { end: "hang", done: false })],
    [`${kind.path} cut`, kind.stream({ ...said, isBroken: true }, { end: "cut", done: false })],
  ]),
);

beforeAll(async () => {
  process.on("unhandledRejection", onRejection);
  const url = { current: "" };
  const provider = (operations: ["chat/completions"] | ["responses"]) => ({
    operations,
    call: (call: Parameters<ReturnType<typeof openAICompatible>["call"]>[0]) =>
      providerOf(url.current, operations).call(call),
  });
  test = await startTestGateway({
    ledger,
    models: bothServers.map((kind) => ({
      ...smallModel,
      id: `acme/${kind.operations[0]}`,
      upstream: { provider: kind.operations[0], model: "up" },
    })),
    providers: Object.fromEntries(bothServers.map(({ operations }) => [operations[0], provider(operations)])),
    responses: memoryResponseStore({ maxBytes: 2 ** 22 }),
    keys: memoryKeyStore(
      Array.from({ length: accounts }, (_, index) => ({ key: `sk-${index}`, account: `acct_${index}`, plan: "pro" })),
    ),
    closeGraceMs: 5000,
  });
  url.current = test.upstream.url;
  test.upstream.reply((request, response) => {
    const { user } = request.json as { user: Fate };
    return answers.get(`${request.url} ${user}`)?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

const providers = new Map<string, ReturnType<typeof openAICompatible>>();
function providerOf(baseURL: string, operations: ["chat/completions"] | ["responses"]) {
  const made = providers.get(operations[0]) ?? openAICompatible({ baseURL, operations });
  providers.set(operations[0], made);
  return made;
}

afterAll(async () => {
  agent.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  for (const provider of providers.values()) await provider.close?.();
  await test.close();
  process.off("unhandledRejection", onRejection);
});

/** The last response of each account and model. */
const previous = new Map<string, string>();

/** Sends one request; resolves with the answer's text, or with what had come when it left. */
function stream(index: number): Promise<string> {
  const fate = fates[index % fates.length] ?? "whole";
  const model = `acme/${bothServers[(index % 7) % 2]?.operations[0]}`;
  const place = `${index % accounts} ${model}`;
  return new Promise((resolve, reject) => {
    const before = fate === "next" ? previous.get(place) : undefined;
    previous.delete(place);
    const body = JSON.stringify({
      model,
      stream: true,
      user: fate,
      input: [{ role: "user", content: `Stream ${index}` }],
      ...(before === undefined ? {} : { previous_response_id: before }),
    });
    const request = httpRequest(
      {
        port,
        agent,
        method: "POST",
        path: "/v1/responses",
        headers: { authorization: `Bearer sk-${index % accounts}`, "content-type": "application/json" },
      },
      (response) => {
        let text = "";
        response.setEncoding("utf8");
        response.on("data", (part: string) => {
          text += part;
          if (fate === "left") request.destroy();
        });
        response.on("error", () => {});
        response.on("close", () => {
          const id = /"id":"(resp_[0-9a-f]+)"/.exec(text)?.[1];
          if (id !== undefined && text.includes("event: response.completed")) previous.set(place, id);
          resolve(text);
        });
      },
    );
    request.on("error", (error) => (fate === "left" ? undefined : reject(error)));
    request.end(body);
  });
}

async function run(from: number, count: number): Promise<void> {
  let next = from;
  const worker = async () => {
    while (next < from + count) {
      const index = next++;
      const text = await stream(index);
      const fate = fates[index % fates.length];
      const end = fate === "cut" ? "response.failed" : "response.completed";
      if (fate !== "left" && !text.includes(`event: ${end}\n`)) throw new Error(`Stream ${index} (${fate}): ${text}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

function usedHeap(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

let charged = 0;
let ended = 0;
function countEvents(): void {
  for (const event of test.events.splice(0)) {
    charged += event.chargedMicro;
    ended++;
  }
  // What the test itself keeps of each request.
  (test.upstream.requests as unknown[]).length = 0;
  test.warnings.length = 0;
}

it(`survives ${streams} streams of responses, a third of them aborted or broken`, { timeout: 600_000 }, async () => {
  const rounds = 10;
  const heaps: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await run((round * streams) / rounds, streams / rounds);
    countEvents();
    heaps.push(usedHeap());
  }
  const mebibytes = heaps.map((bytes) => Math.round(bytes / 104_857.6) / 10);
  console.log(`Heap after each ${streams / rounds} streams, in MiB: ${mebibytes.join(", ")}`);
  // The first rounds fill caches, the store of responses, and the ledger's memory of closed ids, which spans two minutes.
  const growth = (heaps.at(-1) ?? 0) - (heaps[2] ?? 0);
  expect(growth).toBeLessThan(12 * 1024 * 1024);

  await test.gateway.close();
  countEvents();
  expect(ended).toBe(streams);
  let used = 0;
  for (let account = 0; account < accounts; account++) {
    const credits = { session: 100e6, week: 500e6, month: 1500e6 };
    const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
    const { windows } = await ledger.balance(`acct_${account}`, limits);
    expect(windows.session.heldMicro).toBe(0);
    used += windows.session.usedMicro;
  }
  expect(used).toBe(charged);
  for (const provider of providers.values()) await provider.close?.();
  await test.upstream.idle();
  expect(test.upstream.openSockets).toBe(0);
  expect(rejections).toEqual([]);
});
