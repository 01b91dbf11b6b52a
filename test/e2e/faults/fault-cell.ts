import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach } from "vitest";
import { toNodeHandler } from "../../../src/adapters/node.js";
import type { GatewayOptions } from "../../../src/gateway/options.js";
import { windowLimits } from "../../../src/ledger/calendar.js";
import { openAICompatible } from "../../../src/providers/openai-compatible.js";
import type { UpstreamOperation } from "../../../src/providers/upstream-provider.js";
import { memoryCreditLedger } from "../../../src/stores/memory/memory-ledger.js";
import { type FakeAnswer, type FakeUpstream, startFakeUpstream } from "../../../src/testing.js";
import { smallModel, startTestGateway, type TestGateway } from "../../support/test-gateway.js";
import type { Fault } from "./faults.js";

const newYear = Date.UTC(2026, 0, 1);
/** How long a server that falls silent is waited for; all others have all the time they need. */
const silenceMs = 100;

/** 9 prompt tokens and 3 of output, at the second target's price. */
export const chargedBySecond = 9 * 3 + 3 * 30;

export interface Cell {
  test: TestGateway;
  /** The servers behind the targets. */
  servers: FakeUpstream[];
  /** For clients, such as `http://127.0.0.1:40123/v1`. */
  baseURL: string;
  stock(): Promise<{ used: number; held: number }>;
}

/** A target of a cell. */
export interface CellTarget {
  /** `undefined`: it is well. */
  readonly fault?: Fault | undefined;
  readonly operations?: readonly UpstreamOperation[];
  /** What it answers when it is well. Default: a chat completion. */
  readonly answer?: FakeAnswer;
}

const closers: (() => Promise<unknown>)[] = [];

/** To be called once in a file: closes what the cells of each test have opened. */
export function afterCells(): void {
  afterEach(async () => {
    for (const close of closers.splice(0).reverse()) await close();
  });
}

/** A gateway behind a real server, in front of these targets. */
export async function startCell(targets: readonly CellTarget[], options: Partial<GatewayOptions> = {}): Promise<Cell> {
  const clock = { now: () => newYear };
  const ledger = memoryCreditLedger({ clock });
  const servers: FakeUpstream[] = [];
  const urls: string[] = [];
  for (const { fault, answer } of targets) {
    const server = await startFakeUpstream();
    closers.push(() => server.close());
    servers.push(server);
    const reply = fault?.answer ?? answer;
    if (reply !== undefined) server.reply(reply);
    const place = await fault?.baseURL?.(server);
    if (place?.close !== undefined) closers.push(place.close);
    urls.push(place?.url ?? server.url);
  }
  const provider = (index: number) => {
    const { fault, operations } = targets[index] ?? {};
    return openAICompatible({
      baseURL: urls[index] ?? "",
      timeoutMs: fault?.isSilent ? silenceMs : undefined,
      ...(operations === undefined ? {} : { operations }),
    });
  };
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
    ...options,
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
    baseURL: `http://127.0.0.1:${port}/v1`,
    async stock() {
      const limits = windowLimits({ credits, sessionMs: 18_000_000, now: newYear });
      const { usedMicro, heldMicro } = (await ledger.balance("acct_pro", limits)).windows.session;
      return { used: usedMicro, held: heldMicro };
    },
  };
}
