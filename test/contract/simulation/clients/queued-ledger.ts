import { type CreditLedger, LedgerUnavailableError, type RenewRequest } from "../../../../src/ledger/credit-ledger.js";
import { TimeLimit } from "../../../../src/ledger/guard/time-limit.js";
import type { LedgerReply } from "../../../../src/stores/redis/ledger/ledger-reply.js";
import { OperationLanes } from "../../../../src/stores/redis/ledger/operation-lanes.js";
import { batchSizes } from "../../../../src/stores/redis/ledger/operation-queue.js";
import type { BatchedOperation } from "../../../../src/stores/redis/ledger/waiting-operations.js";
import type { Operation, Outcome } from "../store/store-server.js";
import type { Connection } from "./connection.js";

/** As the Redis ledger's. */
const timeoutMs = 2_000;

/** In the queue of the Redis ledger: in place of the text for a script there is what the store is to do. */
class QueuedOperation implements BatchedOperation {
  readonly keys = { names: [], packed: "" };
  readonly text = "";
  readonly account: string;
  readonly operation: Operation;
  outcome: Outcome | undefined;

  constructor(account: string, operation: Operation) {
    this.account = account;
    this.operation = operation;
  }
}

const done: LedgerReply = { status: "done", numbers: new Float64Array(2), first: 0 };

/**
 * The Redis ledger with its own queue and time limit, over a virtual connection. What changes an account goes through
 * the queue, as it does there. A renewal is a script for each account.
 */
export function queuedLedger(connection: Connection): CreditLedger {
  const limit = new TimeLimit(timeoutMs);
  const lanes = new OperationLanes(
    async (groups) => {
      const queued = groups.flatMap(({ waiting }) => waiting.map(({ operation }) => operation as QueuedOperation));
      const outcomes = await limit.race(connection.run(queued.map(({ operation }) => operation)));
      for (const [index, one] of queued.entries()) one.outcome = outcomes[index];
      return queued.map(() => done);
    },
    batchSizes(),
    false,
  );
  async function submit<Result>(account: string, operation: (rules: CreditLedger) => Promise<Result>): Promise<Result> {
    const queued = new QueuedOperation(account, operation);
    await lanes.submit(queued);
    return resultOf<Result>(queued.outcome);
  }
  async function send<Result>(operation: (rules: CreditLedger) => Promise<Result>): Promise<Result> {
    try {
      const [outcome] = await limit.race(connection.run([operation]));
      return resultOf<Result>(outcome);
    } catch (cause) {
      throw new LedgerUnavailableError("The store did not respond.", { cause });
    }
  }
  return {
    reserve: (request) => submit(request.account, (rules) => rules.reserve(request)),
    settle: (lease, settlement) => submit(lease.account, (rules) => rules.settle(lease, settlement)),
    release: (lease, rates) => submit(lease.account, (rules) => rules.release(lease, rates)),
    grant: (request) => submit(request.account, (rules) => rules.grant(request)),
    reset: (account, windows) => submit(account, (rules) => rules.reset(account, windows)),
    forget: (account) => submit(account, (rules) => rules.forget(account)),
    balance: (account, limits) => send((rules) => rules.balance(account, limits)),
    renew: async (requests) => {
      const renewed = await Promise.all(
        byAccount(requests).map(async (some) => {
          const statuses = await send((rules) => rules.renew(some));
          return some.map((request, index) => [request, statuses[index] ?? "closed"] as const);
        }),
      );
      const statuses = new Map(renewed.flat());
      return requests.map((request) => statuses.get(request) ?? "closed");
    },
    close: () => lanes.idle(),
    onReconnected: (listener) => connection.onReconnected(listener),
  };
}

function resultOf<Result>(outcome: Outcome | undefined): Result {
  if (outcome?.status === "fulfilled") return outcome.value as Result;
  throw outcome?.reason ?? new LedgerUnavailableError("The store did not reply.");
}

function byAccount(requests: readonly RenewRequest[]): RenewRequest[][] {
  const groups = new Map<string, RenewRequest[]>();
  for (const request of requests) {
    const { account } = request.lease;
    const others = groups.get(account);
    if (others) others.push(request);
    else groups.set(account, [request]);
  }
  return [...groups.values()];
}
