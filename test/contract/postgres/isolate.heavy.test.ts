import { AsyncLocalStorage } from "node:async_hooks";
import { randomUUID } from "node:crypto";
import pg from "pg";
import { afterAll, beforeAll, beforeEach, expect, it } from "vitest";
import { windowLimits } from "../../../src/ledger/calendar.js";
import type { CreditLedger } from "../../../src/ledger/credit-ledger.js";
import type { PostgresPool } from "../../../src/stores/postgres/postgres-pool.js";
import { type PostgresStores, postgresStores } from "../../../src/stores/postgres/postgres-stores.js";
import { describeWithPostgres } from "../../support/postgres-server.js";

/** Of a runtime that ties each promise to the request which made it. */
interface IsolateRequest {
  /** After so many statements it is over, in the middle of the last one. */
  readonly lastStatement: number;
  statements: number;
  readonly over: Promise<void>;
  end(): void;
  isOver: boolean;
}

const now = Date.now();
const hour = 3_600_000;
const leaseMs = 600_000;
const limits = windowLimits({ credits: { session: null, week: null, month: null }, sessionMs: hour, now });
const accounts = ["a", "b", "c", "d", "e"];
const hash = "0".repeat(64);

function newRequest(lastStatement: number): IsolateRequest {
  let settle: () => void = () => {};
  const over = new Promise<void>((resolve) => {
    settle = resolve;
  });
  return {
    lastStatement,
    ...{ statements: 0, over, isOver: false },
    end() {
      this.isOver = true;
      settle();
    },
  };
}

/** A pool whose promises belong to the request that asked for them. Of one that is over, none ever settles. */
class IsolatePool implements PostgresPool {
  readonly #pool: pg.Pool;
  readonly #requests = new AsyncLocalStorage<IsolateRequest>();
  readonly #underWay = new Set<Promise<unknown>>();
  /** The operations on credits that were sent, whether or not anybody has heard of their results. */
  readonly sent: { readonly op: string; readonly account: string; readonly id: string }[] = [];

  constructor(pool: pg.Pool) {
    this.#pool = pool;
  }

  run(request: IsolateRequest, work: () => Promise<void>): Promise<void> {
    return this.#requests.run(request, work);
  }

  async query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }> {
    const request = this.#requests.getStore();
    if (request === undefined) throw new Error("Nothing runs outside of a request.");
    if (request.isOver) return never();
    this.#note(text, values);
    const answer = this.#pool.query(text, values);
    const settled = answer.catch(() => {}).finally(() => this.#underWay.delete(settled));
    this.#underWay.add(settled);
    if (++request.statements === request.lastStatement) request.end();
    const result = request.isOver ? undefined : await answer;
    return result === undefined || request.isOver ? never() : result;
  }

  /** Resolves when the server has done all that it was sent. */
  async idle(): Promise<void> {
    while (this.#underWay.size > 0) await Promise.all(this.#underWay);
  }

  #note(text: string, values: unknown[] | undefined): void {
    if (!text.includes("from infergate.operate($1")) return;
    for (const { account, operations } of JSON.parse(String(values?.[0]))) {
      for (const { op, id } of operations) this.sent.push({ op, account, id });
    }
  }
}

const never = (): Promise<never> => new Promise(() => {});

/** What a gateway asks of its stores in the course of a request. */
async function call(stores: PostgresStores, account: string): Promise<void> {
  const id = randomUUID();
  await stores.keys.find(hash);
  await Promise.all([stores.plans.find("plan"), stores.accounts.find(account), stores.modelStore.list()]);
  await stores.budgets.find(account, { team: "t" });
  const reserved = await stores.ledger.reserve({ id, account, amountMicro: 10, limits, leaseMs });
  if (!reserved.ok) throw new Error("Nothing is limited here.");
  await stores.ledger.renew([{ lease: reserved.lease, observedMicro: 4, leaseMs }]);
  await stores.ledger.settle(reserved.lease, { amountMicro: 7 });
  const response = { response: "{}", input: [], output: [{ id: `msg_${id}`, json: "{}" }] };
  await stores.responses.put({ id: `resp_${id}`, account, createdAt: now, previousResponseId: undefined, ...response });
  await stores.ledger.topUp?.({ id, account, amountMicro: 1 });
  await stores.keys.touch?.([{ id: "key", at: now }]);
}

describeWithPostgres("PostgreSQL in an isolate", (server) => {
  let pool: pg.Pool;
  beforeAll(() => {
    pool = new pg.Pool({ connectionString: server.url, max: 40 });
  });
  afterAll(() => pool.end());
  beforeEach(() => pool.query("drop schema if exists infergate cascade"));

  it("lets no request wait for what another one has begun", async () => {
    const isolate = new IsolatePool(pool);
    const stores = postgresStores({ pool: isolate, isolate: true });
    let finished = 0;
    const failures: unknown[] = [];
    // The first one brings the schema up to date, and is over meanwhile. Others are over in each of their statements.
    const requests = Array.from({ length: 200 }, (_, index) =>
      newRequest(index % 3 === 0 ? 1 + ((index / 3) % 11) : Number.POSITIVE_INFINITY),
    );
    const waiting = [...requests.entries()];
    const work = async () => {
      for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
        const [index, request] = next;
        const done = isolate
          .run(request, () => call(stores, accounts[index % 5] as string))
          .then(
            () => finished++,
            (error: unknown) => failures.push(error),
          );
        await Promise.race([done, request.over]);
      }
    };
    void Promise.all(Array.from({ length: 40 }, work));
    const living = requests.filter(({ lastStatement }) => lastStatement === Number.POSITIVE_INFINITY).length;
    await expect.poll(() => [finished, ...failures], { timeout: 40_000 }).toEqual([living]);
    await isolate.idle();
    expect(requests.filter(({ isOver }) => isOver).length).toBe(requests.length - living);

    const { ledger } = postgresStores({ pool });
    for (const account of accounts) {
      const idsOf = (op: string) =>
        new Set(isolate.sent.filter((sent) => sent.op === op && sent.account === account).map(({ id }) => id));
      const [held, settled, toppedUp] = ["reserve", "settle", "topup"].map(idsOf) as [
        Set<string>,
        Set<string>,
        Set<string>,
      ];
      const balance = await ledger.balance(account, limits);
      expect(balance.windows.week.usedMicro).toBe(7 * settled.size);
      expect(balance.windows.week.heldMicro).toBe(10 * [...held].filter((id) => !settled.has(id)).length);
      expect(balance.prepaid?.balanceMicro).toBe(toppedUp.size);
    }
    await ledger.close();
  });

  it("drops what is too old as a part of a sweep, and not behind any other operation", async () => {
    const isolate = new IsolatePool(pool);
    const newLedger = () => postgresStores({ pool: isolate, isolate: true, retentionMs: 24 * hour }).ledger;
    const account = "old";
    const inRequest = (work: () => Promise<unknown>) =>
      isolate.run(newRequest(Number.POSITIVE_INFINITY), async () => void (await work()));
    const spend = (ledger: CreditLedger, id: string) =>
      inRequest(async () => {
        const reserved = await ledger.reserve({ id, account, amountMicro: 10, limits, leaseMs });
        if (reserved.ok) await ledger.settle(reserved.lease, { amountMicro: 7 });
      });
    await spend(newLedger(), "first");
    await pool.query("update infergate.entry set at = at - 3 * 86400000");
    const ledger = newLedger();
    await spend(ledger, "second");
    await isolate.idle();
    const count = async () => (await pool.query("select from infergate.entry where account = 'old'")).rowCount;
    expect(await count()).toBe(2);
    await inRequest(async () => expect(await ledger.sweep?.()).toBe(0));
    expect(await count()).toBe(1);
  });

  it("listens to nothing, whatever the pool can do", () => {
    const { keys, plans, ledger, modelStore, accounts, budgets } = postgresStores({ pool, isolate: true });
    expect([keys, plans, ledger, modelStore, accounts, budgets].map(({ subscribe }) => subscribe)).toEqual(
      new Array(6).fill(undefined),
    );
  });
});
