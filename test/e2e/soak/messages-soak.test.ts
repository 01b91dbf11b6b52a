import { Agent, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toNodeHandler } from "../../../src/adapters/node.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore } from "../../../src/stores/memory/memory-stores.js";
import { type FakeAnswer, type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { collectGarbage } from "../../support/collect-garbage.js";
import { bothTargets } from "../../support/operations/messages/message-samples.js";
import { messageText } from "../../support/operations/messages/messages-server.js";
import { smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";

const streams = Number(process.env["SOAK_STREAMS"] ?? 20_000);
const parallel = 50;
const accounts = 20;

/** What becomes of a stream: a third of them ends badly. */
const fates = ["whole", "whole", "called", "whole", "left", "cut"] as const;
type Fate = (typeof fates)[number];

const calls = [0, 1].map((index) => ({ id: `toolu_${index}`, name: "f", arguments: '{"city":"Rome","days":3}' }));
const text = "The quick brown fox jumps over the lazy dog.";

let test: TestGateway;
let port: number;
const upstreams: FakeUpstream[] = [];
const ledger = memoryCreditLedger();
const agent = new Agent({ keepAlive: true, maxSockets: parallel });
const server = createServer((req, res) => toNodeHandler(test.gateway)(req, res));
const rejections: unknown[] = [];
const onRejection = (reason: unknown) => rejections.push(reason);

beforeAll(async () => {
  process.on("unhandledRejection", onRejection);
  const providers: Record<string, ReturnType<(typeof bothTargets)[number]["provider"]>> = {};
  for (const [index, target] of bothTargets.entries()) {
    const upstream = await startFakeUpstream();
    upstreams.push(upstream);
    const answers: Record<Fate, FakeAnswer> = {
      whole: target.stream({ text }),
      called: target.stream({ calls }),
      left: target.stream({ text, isBroken: true }, { end: "hang" }),
      cut: target.stream({ text, isBroken: true }, { end: "cut" }),
    };
    upstream.reply((request, response) => {
      const fate = fates.find((each) => request.body.includes(`Fate ${each}.`)) ?? "whole";
      return answers[fate](request, response);
    });
    providers[`server-${index}`] = target.provider({ baseURL: upstream.url });
  }
  test = await startTestGateway({
    ledger,
    keys: memoryKeyStore(
      Array.from({ length: accounts }, (_, index) => ({ key: `sk-${index}`, account: `acct_${index}`, plan: "pro" })),
    ),
    models: bothTargets.map((_target, index) => ({
      ...smallModel,
      id: `acme/${index}`,
      upstream: { provider: `server-${index}`, model: "upstream" },
    })),
    providers,
    closeGraceMs: 5000,
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  agent.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await test.close();
  for (const upstream of upstreams) await upstream.close();
  process.off("unhandledRejection", onRejection);
});

/** Sends one request; resolves with the answer's text, or with what had come when it left. */
function stream(index: number): Promise<string> {
  const fate = fates[index % fates.length] ?? "whole";
  return new Promise((resolve, reject) => {
    const headers = { "x-api-key": `sk-${index % accounts}`, "content-type": "application/json" };
    const request = httpRequest({ port, agent, method: "POST", path: "/v1/messages", headers }, (response) => {
      let read = "";
      response.setEncoding("utf8");
      response.on("data", (part: string) => {
        read += part;
        if (fate === "left") request.destroy();
      });
      response.on("error", () => {});
      response.on("close", () => resolve(read));
    });
    request.on("error", (error) => (fate === "left" ? undefined : reject(error)));
    const messages = [{ role: "user", content: `Stream ${index}. Fate ${fate}.` }];
    request.end(messageText({ model: `acme/${Math.floor(index / fates.length) % 2}`, stream: true, messages }));
  });
}

const endings: Readonly<Record<Fate, RegExp>> = {
  whole: /event: message_stop\n.*\n\n$/,
  called: /"stop_reason":"tool_use".*\n\nevent: message_stop\n.*\n\n$/,
  cut: /event: error\ndata: \{"type":"error",.*\}\n\n$/,
  left: /^/,
};

async function run(from: number, count: number): Promise<void> {
  let next = from;
  const worker = async () => {
    while (next < from + count) {
      const index = next++;
      const read = await stream(index);
      const fate = fates[index % fates.length] ?? "whole";
      if (!endings[fate].test(read)) throw new Error(`Stream ${index}, ${fate}: ${read}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

let charged = 0;
let ended = 0;

/** Counts the events, and forgets what the test itself keeps of each request. */
function countEvents(): void {
  for (const event of test.events.splice(0)) {
    charged += event.chargedMicro;
    ended++;
  }
  for (const upstream of upstreams) (upstream.requests as unknown[]).length = 0;
  test.warnings.length = 0;
}

it(`survives ${streams} streams of messages, a third of them aborted or broken`, { timeout: 600_000 }, async () => {
  const rounds = 10;
  const heaps: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await run((round * streams) / rounds, streams / rounds);
    countEvents();
    collectGarbage();
    collectGarbage();
    heaps.push(process.memoryUsage().heapUsed);
  }
  const mebibytes = heaps.map((bytes) => Math.round(bytes / 104_857.6) / 10);
  console.log(`Heap after each ${streams / rounds} streams, in MiB: ${mebibytes.join(", ")}`);
  // The first rounds fill caches and the ledger's memory of closed ids, which spans two minutes.
  expect((heaps.at(-1) ?? 0) - (heaps[2] ?? 0)).toBeLessThan(12 * 1024 * 1024);

  await test.gateway.close();
  countEvents();
  expect(ended).toBe(streams);
  let used = 0;
  for (let account = 0; account < accounts; account++) {
    const credits = { session: 100e6, week: 500e6, month: 1500e6 };
    const limits = windowLimits({ credits, sessionMs: 18_000_000, now: Date.now() });
    const { session } = (await ledger.balance(`acct_${account}`, limits)).windows;
    expect(session.heldMicro).toBe(0);
    used += session.usedMicro;
  }
  expect(used).toBe(charged);
  for (const upstream of upstreams) {
    await upstream.idle();
    expect(upstream.openSockets).toBe(0);
  }
  expect(rejections).toEqual([]);
});
