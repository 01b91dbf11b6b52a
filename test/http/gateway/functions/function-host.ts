import { onTestFinished } from "vitest";
import type { GatewayOptions } from "../../../../src/gateway/options.js";
import { hashKey } from "../../../../src/index.js";
import type { CreditLedger } from "../../../../src/ledger/credit-ledger.js";
import { memoryCreditLedger } from "../../../../src/stores/memory/memory-ledger.js";
import { memoryRequestLog } from "../../../../src/stores/memory/memory-request-log.js";
import { memoryKeyStore } from "../../../../src/stores/memory/memory-stores.js";
import { chatRequest, startTestGateway, type TestGateway } from "../../../support/test-gateway.js";

/** What a host sees that ends with its responses, in its order. */
export class FunctionHost {
  readonly order: string[] = [];
  readonly works: Promise<unknown>[] = [];

  /** The host's own. */
  readonly waitUntil = (work: Promise<unknown>): void => {
    this.order.push("waitUntil");
    this.works.push(work);
    work.then(
      () => this.order.push("work"),
      () => this.order.push("rejected"),
    );
  };

  /** Notes what it does when it has ended. */
  noting<Args extends unknown[], Result>(name: string, act: (...args: Args) => Promise<Result> | Result) {
    return async (...args: Args): Promise<Result> => {
      const result = await act(...args);
      this.order.push(name);
      return result;
    };
  }

  /** All works of now, to their ends. */
  async allEnded(): Promise<void> {
    await Promise.all(this.works);
  }
}

/** A gateway, all of whose stores tell the host what they have written. `ledger` stands for a remote one. */
export async function startFunction(
  options: Partial<GatewayOptions> = {},
): Promise<TestGateway & { host: FunctionHost; log: ReturnType<typeof memoryRequestLog> }> {
  const host = new FunctionHost();
  const keys = memoryKeyStore([{ key: "sk-pro", id: "key_pro", account: "acct_pro", plan: "pro" }]);
  const log = memoryRequestLog();
  const test = await startTestGateway({
    ledger: notedLedger(host),
    keys: {
      find: (hash) => {
        host.order.push(hash === hashKey("sk-pro") ? "find" : "find nothing");
        return keys.find(hash);
      },
      touch: host.noting("used", (uses) => keys.touch?.(uses)),
    },
    requestLog: { ...log, write: host.noting("logged", (lines) => log.write(lines)) },
    ...options,
  });
  onTestFinished(test.close);
  return { ...test, host, log };
}

/** A ledger of another process, in its guard. @param base - what becomes of its operations. */
export function notedLedger(host: FunctionHost, base: CreditLedger = memoryCreditLedger()): CreditLedger {
  return {
    ...base,
    settle: host.noting("settled", (lease, settlement) => base.settle(lease, settlement)),
    release: host.noting("released", (lease, rates) => base.release(lease, rates)),
  };
}

/** A stream's request, and what its client does to leave. */
export function leavingRequest(body: Record<string, unknown> = { stream: true }) {
  const leaving = new AbortController();
  return { request: new Request(chatRequest(body), { signal: leaving.signal }), leave: () => leaving.abort() };
}
