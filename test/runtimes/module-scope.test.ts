import { mkdtemp, rm } from "node:fs/promises";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { memoryCreditLedger, memoryKeyStore, memoryPlanStore, memoryRequestLog } from "../../src/index.js";
import type { KeyUse } from "../../src/keys/key-store.js";
import { Calendar } from "../../src/ledger/windows.js";
import type { ModuleScopeConfig } from "./module-scope-config.js";
import { hasRuntime, type Runtime, startRuntime } from "./start-runtime.js";
import { type StoreServer, startStoreServer } from "./store-server.js";

const calls = 200;
const atOnce = 40;
const usage = { prompt_tokens: 10, completion_tokens: 40, total_tokens: 50 };
/** At 1 and 10 micro-credits a token. */
const wholeMicro = 410;
const pieces = 40;

/** A model server that counts what it does. A streamed answer goes on as its reader takes it, one piece a turn. */
async function startCountingUpstream() {
  const seen = { calls: 0, ended: 0, cut: 0 };
  const server = createServer(async (request, response) => {
    seen.calls++;
    response.on("close", () => (response.writableFinished ? seen.ended++ : seen.cut++));
    let body = "";
    for await (const piece of request) body += piece;
    const { stream, messages } = JSON.parse(body);
    if (stream) await writeStream(response, messages[0].content === "long" ? "x".repeat(1024 * 1024) : "word ");
    else response.setHeader("content-type", "application/json").end(JSON.stringify(whole));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { seen, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
}

const whole = {
  ...{ id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", usage },
  choices: [{ index: 0, message: { role: "assistant", content: "word" }, finish_reason: "stop" }],
};

async function writeStream(response: ServerResponse, content: string): Promise<void> {
  const chunk = { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m" };
  const write = async (data: object) => {
    response.write(`data: ${JSON.stringify({ ...chunk, ...data })}\n\n`);
    do await setTimeout(5);
    while (response.writableNeedDrain && !response.destroyed);
  };
  response.setHeader("content-type", "text/event-stream");
  for (let piece = 0; piece < pieces && !response.destroyed; piece++) {
    await write({ choices: [{ index: 0, delta: { content } }] });
  }
  await write({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
  await write({ choices: [], usage });
  response.end("data: [DONE]\n\n");
}

describe.skipIf(!hasRuntime("workerd"))("a gateway at module scope of a Worker, with stores in another process", () => {
  const ledger = memoryCreditLedger();
  const requestLog = memoryRequestLog();
  const uses: KeyUse[] = [];
  let made: string;
  let upstream: Awaited<ReturnType<typeof startCountingUpstream>>;
  let stores: StoreServer;
  let runtime: Runtime;

  beforeAll(async () => {
    made = await mkdtemp(join(tmpdir(), "infergate-worker-"));
    upstream = await startCountingUpstream();
    const keys = memoryKeyStore(
      ["busy", "idle"].map((account) => ({ key: `sk-${account}`, id: `key_${account}`, account, plan: "pro" })),
    );
    stores = await startStoreServer({
      keys: { find: (hash: string) => keys.find(hash), touch: (used: KeyUse[]) => uses.push(...used) },
      plans: memoryPlanStore({ pro: { models: ["*"], credits: { month: 100_000 } } }),
      ...{ ledger, requestLog },
    });
    const config: ModuleScopeConfig = {
      ...{ upstream: upstream.url, stores: stores.url },
      model: {
        ...{ id: "acme/small", type: "chat", contextLength: 1000, price: { input: 1, output: 10 } },
        upstream: { provider: "fake", model: "m" },
      },
      options: { maxStallMs: 1_000, ledgerOptions: { reserveTimeoutMs: 30_000, settleTimeoutMs: 30_000 } },
    };
    runtime = await startRuntime("workerd", config, { made, entry: "serve-module-scope.ts" });
  });
  afterAll(async () => {
    await runtime?.close();
    await stores?.close();
    upstream?.server.closeAllConnections();
    upstream?.server.close();
    await rm(made, { recursive: true, force: true });
  });

  const call = (key: string, body: object, signal?: AbortSignal) =>
    fetch(`${runtime.origin}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ model: "acme/small", messages: [{ role: "user", content: "hello" }], ...body }),
      ...(signal && { signal }),
    });
  const chargesOf = async (account: string) => {
    const { entries = [] } = (await ledger.history?.({ account, limit: 1000 })) ?? {};
    return entries.filter(({ kind }) => kind === "charge");
  };
  const linesOf = async (account: string) => (await requestLog.list({ account, limit: 1000 })).requests;
  /** What is written behind the responses. */
  const written = (account: string, count: number) =>
    vi.waitFor(
      async () => {
        expect(await chargesOf(account)).toHaveLength(count);
        expect(await linesOf(account)).toHaveLength(count);
      },
      { timeout: 60_000, interval: 100 },
    );

  it(`serves ${calls} calls, ${atOnce} at once, of which a third is left, and loses none`, async () => {
    const one = async (place: number) => {
      const leaving = new AbortController();
      const response = await call("sk-busy", { stream: place % 3 > 0 }, leaving.signal);
      expect(response.status).toBe(200);
      if (place % 3 === 1) {
        await response.body?.getReader().read();
        leaving.abort();
      } else {
        const text = await response.text();
        expect(text).toContain(place % 3 === 0 ? '"finish_reason":"stop"' : "data: [DONE]");
      }
    };
    const places = Array.from({ length: calls }, (_, place) => place).values();
    const work = async () => {
      for (const place of places) await one(place);
    };
    await Promise.all(Array.from({ length: atOnce }, work));
    await written("busy", calls);
    const charges = await chargesOf("busy");
    const lines = await linesOf("busy");
    const sum = (all: readonly number[]) => all.reduce((one, other) => one + other, 0);
    expect(upstream.seen.calls).toBe(calls);
    expect(sum(lines.map(({ chargedMicro }) => chargedMicro))).toBe(sum(charges.map(({ amountMicro }) => amountMicro)));
    const left = Math.ceil((calls - 1) / 3);
    expect(lines.filter(({ endReason }) => endReason === "client_gone")).toHaveLength(left);
    expect(charges.filter(({ amountMicro }) => amountMicro === wholeMicro)).toHaveLength(calls - left);
    expect(upstream.seen.cut).toBe(left);
    const limits = new Calendar(undefined).limits({ session: null, week: null, month: null }, 1, Date.now());
    const { windows } = await ledger.balance("busy", limits);
    expect(windows.month.heldMicro).toBe(0);
    // Once in a minute.
    expect(uses.map(({ id }) => id)).toEqual(["key_busy"]);
  });

  it("ends a call whose client takes nothing of a response that is there", async () => {
    const leaving = new AbortController();
    const response = await call(
      "sk-idle",
      { stream: true, messages: [{ role: "user", content: "long" }] },
      leaving.signal,
    );
    await response.body?.getReader().read();
    await written("idle", 1);
    expect(await linesOf("idle")).toMatchObject([{ endReason: "client_gone", status: 200 }]);
    expect(await chargesOf("idle")).toHaveLength(1);
    leaving.abort();
  });
});
