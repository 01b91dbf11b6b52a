import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { memoryCreditLedger, memoryKeyStore, memoryPlanStore, memoryRequestLog } from "../../../src/index.js";
import type { KeyUse } from "../../../src/records/keys/key-store.js";
import type { ModuleScopeConfig } from "./module-scope-config.js";
import { hasRuntime, type Runtime, startRuntime } from "./start-runtime.js";
import { type StoreServer, startStoreServer } from "./store-server.js";
import { expectBooksToAgree, writtenOf } from "./worker-books.js";
import { type CountingUpstream, sendChat, sendTraffic, startCountingUpstream } from "./worker-traffic.js";

const traffic = { calls: 200, atOnce: 40 };
/** 10 tokens at 1 micro-credit and 40 at 10. */
const wholeMicro = 410;

describe.skipIf(!hasRuntime("workerd"))("a gateway at module scope of a Worker, with stores in another process", () => {
  const books = { ledger: memoryCreditLedger(), requestLog: memoryRequestLog() };
  const uses: KeyUse[] = [];
  let made: string;
  let upstream: CountingUpstream;
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
      ...books,
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
    upstream?.close();
    await rm(made, { recursive: true, force: true });
  });

  it("serves 200 calls, 40 at once, of which a third is left, and loses none", async () => {
    const { left } = await sendTraffic({ origin: runtime.origin, key: "sk-busy" }, traffic);
    const written = await writtenOf(books, "busy", traffic.calls);
    await expectBooksToAgree(books, "busy", written);
    expect(upstream.seen).toEqual({ calls: traffic.calls, ended: traffic.calls - left, cut: left });
    expect(written.lines.filter(({ endReason }) => endReason === "client_gone")).toHaveLength(left);
    expect(written.charges.filter(({ amountMicro }) => amountMicro === wholeMicro)).toHaveLength(traffic.calls - left);
    // Once in a minute.
    expect(uses.map(({ id }) => id)).toEqual(["key_busy"]);
  });

  it("ends a call whose client takes nothing of a response that is there", async () => {
    const leaving = new AbortController();
    const body = { stream: true, messages: [{ role: "user", content: "long" }] };
    const response = await sendChat({ origin: runtime.origin, key: "sk-idle" }, body, leaving.signal);
    await response.body?.getReader().read();
    const { lines } = await writtenOf(books, "idle", 1);
    expect(lines).toMatchObject([{ endReason: "client_gone", status: 200 }]);
    leaving.abort();
  });
});
