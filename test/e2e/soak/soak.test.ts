import { Agent, createServer, request as httpRequest } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll, expect, it } from "vitest";
import { toNodeHandler } from "../../../src/adapters/node.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { memoryKeyStore } from "../../../src/stores/memory/memory-stores.js";
import { chatChunks, eventStream, type FakeAnswer } from "../../../src/testing.js";
import { collectGarbage } from "../../support/collect-garbage.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";

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
const fates = ["whole", "whole", "whole", "whole", "left", "cut"] as const;
type Fate = (typeof fates)[number];

const chunks = chatChunks("The quick brown fox jumps over the lazy dog.");
const answers: Record<string, FakeAnswer> = {
  whole: eventStream(chunks),
  left: eventStream(chunks.slice(0, 4), { end: "hang", done: false }),
  cut: eventStream(chunks.slice(0, 4), { end: "cut", done: false }),
};

beforeAll(async () => {
  process.on("unhandledRejection", onRejection);
  test = await startTestGateway({
    ledger,
    keys: memoryKeyStore(
      Array.from({ length: accounts }, (_, index) => ({ key: `sk-${index}`, account: `acct_${index}`, plan: "pro" })),
    ),
    closeGraceMs: 5000,
  });
  test.upstream.reply((request, response) => {
    const { user } = request.json as { user: Fate };
    return answers[user]?.(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  port = (server.address() as AddressInfo).port;
});

afterAll(async () => {
  agent.destroy();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
  await test.close();
  process.off("unhandledRejection", onRejection);
});

/** Sends one request; resolves with the answer's text, or with what had come when it left. */
function stream(index: number): Promise<string> {
  const fate = fates[index % fates.length] ?? "whole";
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({
      model: "acme/small",
      stream: true,
      user: fate,
      messages: [{ role: "user", content: `Stream ${index}` }],
    });
    const request = httpRequest(
      {
        port,
        agent,
        method: "POST",
        path: "/v1/chat/completions",
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
        response.on("close", () => resolve(text));
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
      if (fate === "whole" && !text.endsWith("data: [DONE]\n\n")) throw new Error(`Stream ${index}: ${text}`);
      if (fate === "cut" && !/data: \{"error":.*\}\n\n$/.test(text)) throw new Error(`Stream ${index}: ${text}`);
    }
  };
  await Promise.all(Array.from({ length: parallel }, worker));
}

function usedHeap(): number {
  collectGarbage();
  collectGarbage();
  return process.memoryUsage().heapUsed;
}

/** What the test itself keeps of each request. */
function forgetRecords(): void {
  (test.upstream.requests as unknown[]).length = 0;
  test.warnings.length = 0;
}

let charged = 0;
let ended = 0;
function countEvents(): void {
  for (const event of test.events.splice(0)) {
    charged += event.chargedMicro;
    ended++;
  }
}

it(`survives ${streams} streams, a third of them aborted or broken`, { timeout: 600_000 }, async () => {
  const rounds = 10;
  const heaps: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await run((round * streams) / rounds, streams / rounds);
    countEvents();
    forgetRecords();
    heaps.push(usedHeap());
  }
  const mebibytes = heaps.map((bytes) => Math.round(bytes / 104_857.6) / 10);
  console.log(`Heap after each ${streams / rounds} streams, in MiB: ${mebibytes.join(", ")}`);
  // The first rounds fill caches and the ledger's memory of closed ids, which spans two minutes.
  const growth = (heaps.at(-1) ?? 0) - (heaps[2] ?? 0);
  expect(growth).toBeLessThan(12 * 1024 * 1024);

  await test.gateway.close();
  countEvents();
  expect(ended).toBe(streams);
  let used = 0;
  for (let account = 0; account < accounts; account++) {
    const limits = windowLimits({
      credits: { session: 100e6, week: 500e6, month: 1500e6 },
      sessionMs: 18_000_000,
      now: Date.now(),
    });
    const { windows } = await ledger.balance(`acct_${account}`, limits);
    expect(windows.session.heldMicro).toBe(0);
    used += windows.session.usedMicro;
  }
  expect(used).toBe(charged);
  await test.upstream.idle();
  expect(test.upstream.openSockets).toBe(0);
  expect(rejections).toEqual([]);
});
