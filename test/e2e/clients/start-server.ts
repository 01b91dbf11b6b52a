import { Buffer } from "node:buffer";
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, vi } from "vitest";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { toNodeHandler } from "../../../src/node.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { startTestGateway, type TestGateway } from "../../support/test-gateway.js";

export interface ServerOptions extends Partial<GatewayOptions> {
  /** How long the fake upstream may be silent, before its answer or within. Default: the provider's own defaults. */
  upstreamTimeouts?: { firstByteTimeoutMs: number } | { idleTimeoutMs: number };
}

export interface ClientServer extends TestGateway {
  /** For clients, such as `http://127.0.0.1:40123/v1`. */
  baseURL: string;
  /** Requests to the gateway so far. */
  attempts(): number;
  /** Requests to the gateway whose client has all of its answer, or has left. */
  closed(): number;
  /** Resolves when that many requests have been denied: a 429. */
  denied(times: number): Promise<void>;
  /** Resolves when streams have been kept alive by at least two comments, or pings. */
  commented(): Promise<void>;
  /** Resolves when streams have been kept alive that often, by comments or by events. */
  keptAlive(times: number): Promise<void>;
  /** Waits until all requests have ended; then their charges must be what the ledger has taken, and nothing is held. */
  checkBooks(): Promise<void>;
}

/** A gateway behind a real server, for real clients. */
export async function startServer({ upstreamTimeouts, ...options }: ServerOptions = {}): Promise<ClientServer> {
  const ledger = memoryCreditLedger();
  const upstreamURL = { current: "" };
  const test = await startTestGateway({
    ledger,
    ...(upstreamTimeouts === undefined ? undefined : { providers: { fake: impatient(upstreamURL, upstreamTimeouts) } }),
    ...options,
  });
  upstreamURL.current = test.upstream.url;
  const handler = toNodeHandler(test.gateway);
  let attempts = 0;
  let comments = 0;
  let keepAlives = 0;
  let closed = 0;
  const server = createServer((req, res) => {
    attempts++;
    res.once("close", () => closed++);
    onWrite(res, (start) => {
      if (/^(:|event: ping\n)/.test(start)) comments++;
      if (/^(:|event: (keepalive|ping)\n)/.test(start)) keepAlives++;
    });
    handler(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    ...test,
    baseURL: `http://127.0.0.1:${port}/v1`,
    attempts: () => attempts,
    closed: () => closed,
    denied: (times) =>
      vi.waitFor(
        () => expect(test.events.filter(({ status }) => status === 429).length).toBeGreaterThanOrEqual(times),
        { interval: 5, timeout: 60_000 },
      ),
    commented: () => vi.waitFor(() => expect(comments).toBeGreaterThan(1), { interval: 5, timeout: 10_000 }),
    keptAlive: (times) =>
      vi.waitFor(() => expect(keepAlives).toBeGreaterThanOrEqual(times), { interval: 5, timeout: 30_000 }),
    checkBooks: async () => {
      await vi.waitFor(() => expect(test.events).toHaveLength(attempts), { interval: 5, timeout: 10_000 });
      for (const account of new Set(test.events.map((event) => event.account))) {
        if (account === undefined) continue;
        const charged = test.events
          .filter((event) => event.account === account)
          .reduce((sum, { chargedMicro }) => sum + chargedMicro, 0);
        const { windows } = await ledger.balance(account, unlimited());
        const balances = Object.entries(windows).map(([window, { usedMicro, heldMicro }]) => ({
          window,
          used: usedMicro,
          held: heldMicro,
        }));
        expect(balances).toEqual(["session", "week", "month"].map((window) => ({ window, used: charged, held: 0 })));
      }
      const codes = test.warnings.map(({ code }) => code);
      expect(codes.filter((code) => code === "internal_error" || code === "ledger_failed")).toEqual([]);
    },
    close: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
      await test.gateway.close();
      await vi.waitFor(() => expect(test.upstream.openSockets).toBe(0), { interval: 5, timeout: 10_000 });
      await test.close();
    },
  };
}

function onWrite(res: ServerResponse, call: (start: string) => void): void {
  const write = res.write.bind(res) as (piece: Uint8Array | string, ...rest: unknown[]) => boolean;
  const watched = (piece: Uint8Array | string, ...rest: unknown[]) => {
    call(Buffer.from(piece.slice(0, 40)).toString());
    return write(piece, ...rest);
  };
  res.write = watched as typeof res.write;
}

/** A provider of an upstream whose address is known only when the gateway has been made. */
function impatient(
  url: { current: string },
  timeouts: NonNullable<ServerOptions["upstreamTimeouts"]>,
): NonNullable<GatewayOptions["providers"]>[string] {
  let provider: ReturnType<typeof openAICompatible> | undefined;
  return {
    call: (call) => {
      provider ??= openAICompatible({ baseURL: url.current, ...timeouts });
      return provider.call(call);
    },
    close: async () => provider?.close?.(),
  };
}

function unlimited() {
  return windowLimits({
    credits: { session: null, week: null, month: null },
    sessionMs: 5 * 60 * 60 * 1000,
    now: Date.now(),
  });
}

/** Of the event of a call whose client left before the upstream had answered. */
export const promptAlone = {
  usageSource: "partial",
  tokens: { input: expect.toSatisfy((tokens: number) => tokens > 0), cachedInput: 0, output: 0, reasoning: 0 },
  chargedMicro: expect.toSatisfy((micro: number) => micro > 0),
};

/** Runs a test with a server of its own; at the end, its books must balance and nothing may be left open. */
export function withServer(
  run: (server: ClientServer) => Promise<void>,
  options: ServerOptions = {},
): () => Promise<void> {
  return async () => {
    const server = await startServer(options);
    try {
      await run(server);
      await server.checkBooks();
    } finally {
      await server.close();
    }
  };
}

/** For `afterAll`: no test has left a socket behind. */
export async function expectNoSockets(): Promise<void> {
  const sockets = () => process.getActiveResourcesInfo().filter((name) => name.startsWith("TCP"));
  await vi.waitFor(() => expect(sockets()).toEqual([]), { timeout: 10_000 });
}
