import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { toNodeHandler } from "../../src/adapters/node.js";
import { windowLimits } from "../../src/ledger/windows.js";
import { memoryCreditLedger } from "../../src/memory/memory-credit-ledger.js";
import { openAICompatible } from "../../src/providers/openai-compatible.js";
import { type FakeUpstream, startFakeUpstream } from "../../src/testing.js";
import { promptEstimate } from "../support/prompt-estimate.js";
import { smallModel, startTestGateway, type TestGateway } from "../support/test-gateway.js";
import { type Fault, faults } from "./faults.js";

const newYear = Date.UTC(2026, 0, 1);
/** How long a server that falls silent is waited for; all others have all the time they need. */
const silenceMs = 100;

/** 9 prompt tokens and 3 of output, at the second target's price. */
const chargedBySecond = 9 * 3 + 3 * 30;

interface Cell {
  test: TestGateway;
  /** The servers behind the targets. */
  servers: FakeUpstream[];
  url: string;
  stock(): Promise<{ used: number; held: number }>;
}

const closers: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

/** A gateway behind a real server, in front of as many targets as there are faults; `undefined` for one that is well. */
async function start(targets: readonly (Fault | undefined)[]): Promise<Cell> {
  const clock = { now: () => newYear };
  const ledger = memoryCreditLedger({ clock });
  const servers: FakeUpstream[] = [];
  const urls: string[] = [];
  for (const fault of targets) {
    const server = await startFakeUpstream();
    closers.push(() => server.close());
    servers.push(server);
    if (fault?.answer !== undefined) server.reply(fault.answer);
    const place = await fault?.baseURL?.(server);
    if (place?.close !== undefined) closers.push(place.close);
    urls.push(place?.url ?? server.url);
  }
  const provider = (index: number) =>
    openAICompatible({ baseURL: urls[index] ?? "", timeoutMs: targets[index]?.isSilent ? silenceMs : undefined });
  const upstream = urls.map((_url, index) => ({
    provider: `server-${index}`,
    model: `upstream-${index}`,
    ...(index === 1 ? { price: { input: 3, output: 30 } } : {}),
  }));
  const test = await startTestGateway({
    clock,
    ledger,
    models: [{ ...smallModel, upstream: upstream.length === 1 ? (upstream[0] ?? []) : upstream }],
    providers: Object.fromEntries(urls.map((_url, index) => [`server-${index}`, provider(index)])),
  });
  closers.push(() => test.close());
  const server = createServer(toNodeHandler(test.gateway));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(() => new Promise((resolve) => server.close(resolve)));
  const { port } = server.address() as AddressInfo;
  const credits = { session: 100e6, week: 500e6, month: 1500e6 };
  return {
    test,
    servers,
    url: `http://127.0.0.1:${port}/v1/chat/completions`,
    async stock() {
      const limits = windowLimits({ credits, sessionMs: 18_000_000, now: newYear });
      const { usedMicro, heldMicro } = (await ledger.balance("acct_pro", limits)).windows.session;
      return { used: usedMicro, held: heldMicro };
    },
  };
}

interface View {
  status: number;
  code: string | undefined;
  retryAfter: string | null;
  shouldRetry: string | null;
  text: string;
  /** The stream ended as one that is complete. */
  done: boolean;
}

function bodyOf(stream: boolean) {
  return { model: "acme/small", stream, max_tokens: 20, messages: [{ role: "user", content: "Hi" }] };
}

async function call({ url }: Cell, stream: boolean): Promise<View> {
  const response = await fetch(url, {
    method: "POST",
    // One connection per call: nothing of the test outlives it.
    headers: { authorization: "Bearer sk-pro", "content-type": "application/json", connection: "close" },
    body: JSON.stringify(bodyOf(stream)),
  });
  const body = await response.text();
  const isStream = response.headers.get("content-type")?.startsWith("text/event-stream") === true;
  const payloads = isStream ? body.split("\n\n").flatMap((event) => event.match(/^data: (.*)$/)?.[1] ?? []) : [body];
  const objects = payloads.filter((payload) => payload !== "[DONE]").map((payload) => JSON.parse(payload));
  return {
    status: response.status,
    code: objects.find(({ error }) => error !== undefined)?.error.code,
    retryAfter: response.headers.get("retry-after"),
    shouldRetry: response.headers.get("x-should-retry"),
    text: objects.map(({ choices }) => choices?.[0]?.delta?.content ?? choices?.[0]?.message?.content ?? "").join(""),
    done: payloads.at(-1) === "[DONE]",
  };
}

function failedView({ failure: { status, code, retryAfter, shouldRetry, text } }: Fault): View {
  return {
    status,
    code,
    retryAfter: retryAfter ?? null,
    // A stream's headers have left before it fails.
    shouldRetry: status === 200 ? null : (shouldRetry ?? null),
    text: text ?? "",
    done: false,
  };
}

/** What a fault costs that came in the middle of the output: the tokens that the prompt is taken for, and 4 that were seen. */
const chargedInPart = promptEstimate(JSON.stringify(bodyOf(true))) + 4 * 10;

for (const kind of ["whole", "stream"] as const) {
  const stream = kind === "stream";
  const healthy: View = {
    status: 200,
    code: undefined,
    retryAfter: null,
    shouldRetry: null,
    text: "Hello world",
    done: stream,
  };

  describe.each(faults[kind])(`$name (${kind})`, (fault) => {
    const { failure, isFinal = false } = fault;
    const isReached = fault.baseURL === undefined;
    const calls = isReached ? 1 : 0;
    const charged = failure.text === undefined ? 0 : chargedInPart;

    it("with one target", async () => {
      const cell = await start([fault]);
      const view = await call(cell, stream);
      expect(view).toEqual(failedView(fault));
      expect(cell.servers.map(({ requests }) => requests.length)).toEqual([calls]);
      expect(await cell.stock()).toEqual({ used: charged, held: 0 });
      expect(cell.test.events).toMatchObject([
        { chargedMicro: charged, errorCode: failure.code, attempts: [{ provider: "server-0", ...failure.attempt }] },
      ]);
      expect(cell.test.events[0]?.attempts[0]?.status).toBe(failure.attempt.status);
    });

    it("with another target that is well", async () => {
      const cell = await start([fault, undefined]);
      const view = await call(cell, stream);
      expect(view).toEqual(isFinal ? failedView(fault) : healthy);
      expect(cell.servers.map(({ requests }) => requests.length)).toEqual([calls, isFinal ? 0 : 1]);
      const cost = isFinal ? charged : chargedBySecond;
      expect(await cell.stock()).toEqual({ used: cost, held: 0 });
      const first = { provider: "server-0", model: "upstream-0", ...failure.attempt };
      const second = { provider: "server-1", model: "upstream-1", status: 200, outcome: "completed" };
      const [event] = cell.test.events;
      expect(event).toMatchObject({ chargedMicro: cost, attempts: isFinal ? [first] : [first, second] });
      expect(event?.attempts).toHaveLength(isFinal ? 1 : 2);
      expect(event?.errorCode).toBe(isFinal ? failure.code : undefined);
    });

    it("with another target that fails the same way", async () => {
      const cell = await start([fault, fault]);
      const view = await call(cell, stream);
      expect(view).toEqual(failedView(fault));
      expect(cell.servers.map(({ requests }) => requests.length)).toEqual([calls, isFinal ? 0 : calls]);
      expect(await cell.stock()).toEqual({ used: charged, held: 0 });
      expect(cell.test.events[0]?.attempts).toHaveLength(isFinal ? 1 : 2);
    });
  });
}
