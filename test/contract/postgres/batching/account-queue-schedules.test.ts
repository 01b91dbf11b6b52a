import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { LedgerInputError, LedgerUnavailableError } from "../../../../src/ledger/credit-ledger.js";
import type { BatchBounds } from "../../../../src/stores/postgres/ledger/account-queue.js";
import { type Statement, Statements, turn } from "./statements.js";

/** Operations come, on one of a few accounts; a turn ends; or one of the statements under way ends. */
type Step =
  | { readonly kind: "submit"; readonly account: number; readonly count: number; readonly refused: boolean }
  | { readonly kind: "turn" }
  | { readonly kind: "end"; readonly which: number; readonly how: "answer" | "gone" };

const step: fc.Arbitrary<Step> = fc.oneof(
  fc.record({
    kind: fc.constant("submit" as const),
    account: fc.nat(7),
    count: fc.oneof(fc.integer({ min: 1, max: 3 }), fc.integer({ min: 1, max: 90 })),
    refused: fc.nat(9).map((n) => n === 0),
  }),
  fc.constant({ kind: "turn" as const }),
  fc.record({
    kind: fc.constant("end" as const),
    which: fc.nat(20),
    how: fc.constantFrom("answer" as const, "answer" as const, "gone" as const),
  }),
);

const bounds: fc.Arbitrary<BatchBounds> = fc.record({
  operations: fc.integer({ min: 1, max: 64 }),
  inFlight: fc.oneof(fc.integer({ min: 1, max: 4 }), fc.constant(Number.POSITIVE_INFINITY)),
  ownFrom: fc.integer({ min: 1, max: 12 }),
});

class Schedule {
  readonly statements: Statements;
  readonly #bounds: BatchBounds;
  readonly #underWay = new Set<Statement>();
  /** Of each account, the operations that have not ended, in the order in which they came. */
  readonly #open = new Map<string, number[]>();
  readonly #refused = new Set<number>();
  readonly #fates = new Map<number, string>();
  readonly #answers = new Map<number, string[]>();
  #submitted = 0;
  #seen = 0;

  constructor(chosen: BatchBounds) {
    this.#bounds = chosen;
    this.statements = new Statements(chosen);
  }

  submit({ account, count, refused }: Extract<Step, { kind: "submit" }>): void {
    const name = `account-${account}`;
    const from = this.#submitted;
    this.#submitted += count;
    if (refused) this.#refused.add(from);
    for (const [index, answer] of this.statements.submit(name, from, from + count - 1).entries()) {
      const n = from + index;
      this.#open.set(name, [...(this.#open.get(name) ?? []), n]);
      this.#answers.set(n, []);
      const note = (fate: string) => this.#answers.get(n)?.push(fate);
      void answer.then(
        ({ status }) => note(status),
        (error: Error) => note(error.message),
      );
    }
  }

  async end(which: number, how: "answer" | "gone"): Promise<void> {
    const statement = [...this.#underWay][which % this.#underWay.size];
    if (statement === undefined) return await turn();
    this.#underWay.delete(statement);
    const { numbers } = statement;
    const isRefused = how === "answer" && numbers.some((n) => this.#refused.has(n));
    if (!isRefused || numbers.length === 1) {
      for (const n of numbers) this.#refused.delete(n);
      for (const n of numbers) this.#fates.set(n, how === "gone" ? "gone" : isRefused ? "refused" : String(n));
      for (const [account, open] of this.#open)
        this.#open.set(
          account,
          open.filter((n) => !numbers.includes(n)),
        );
    }
    if (how === "gone") await statement.fail(new LedgerUnavailableError("gone"));
    else if (isRefused) await statement.fail(new LedgerInputError("refused"));
    else await statement.answer();
    this.check();
  }

  /** At the end of a turn. */
  check(): void {
    for (; this.#seen < this.statements.sent.length; this.#seen++) {
      const statement = this.statements.sent[this.#seen] as Statement;
      this.#checkSent(statement);
      this.#underWay.add(statement);
    }
    const accounts = [...this.#underWay].flatMap(({ batches }) => batches.map(({ account }) => account));
    expect(new Set(accounts).size).toBe(accounts.length);
    expect(this.#underWay.size).toBeLessThanOrEqual(this.#bounds.inFlight);
    for (const [n, answers] of this.#answers) {
      // A batch that is split is answered when all of its parts have ended.
      if (answers.length > 0) expect(answers).toEqual([this.#fates.get(n)]);
    }
  }

  #checkSent({ batches }: Statement): void {
    const accounts = batches.map(({ account }) => account);
    expect(accounts).toEqual([...new Set(accounts)].sort());
    const size = batches.reduce((sum, { operations }) => sum + operations.length, 0);
    expect(size).toBeGreaterThan(0);
    expect(size).toBeLessThanOrEqual(accounts.length > 1 ? this.#bounds.operations : 64);
    for (const { account, operations } of batches) {
      // What came first goes first: nothing that has not ended is left out before it.
      const numbers = operations.map((operation) => Number(operation["n"]));
      expect(this.#open.get(account)?.slice(0, numbers.length)).toEqual(numbers);
    }
  }

  /** No statement may be missing where something waits: a slot is free, and its account is in no statement. */
  checkBusy(): void {
    const busy = new Set([...this.#underWay].flatMap(({ batches }) => batches.map(({ account }) => account)));
    const idle = [...this.#open].filter(([account, open]) => open.length > 0 && !busy.has(account));
    if (this.#underWay.size < this.#bounds.inFlight && !this.#isSplitting) expect(idle).toEqual([]);
  }

  /** Then some accounts may wait for the other half of their batch, and are in no statement. */
  get #isSplitting(): boolean {
    return [...this.#fates.keys()].some((n) => this.#answers.get(n)?.length === 0) || this.#refused.size > 0;
  }

  async finish(): Promise<void> {
    await turn();
    this.check();
    while (this.#underWay.size > 0) await this.end(0, "answer");
    const all = Array.from({ length: this.#submitted }, (_, n) => [this.#fates.get(n)]);
    expect([...this.#answers.values()]).toEqual(all);
    await this.statements.queue.idle();
  }
}

describe("AccountQueue, with any schedule of arrivals and ends", () => {
  // A statement that takes long counts no more as under way: on a busy machine, any would.
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("keeps the order of each account, has it in one statement at a time, answers each operation once, and leaves no slot free", async () => {
    const runs = Number(process.env["FC_RUNS"] ?? 100);
    await fc.assert(
      fc.asyncProperty(bounds, fc.array(step, { minLength: 5, maxLength: 60 }), async (chosen, steps) => {
        const schedule = new Schedule(chosen);
        for (const each of steps) {
          if (each.kind === "submit") schedule.submit(each);
          else if (each.kind === "end") await schedule.end(each.which, each.how);
          else await turn();
          if (each.kind !== "submit") {
            schedule.check();
            schedule.checkBusy();
          }
        }
        await schedule.finish();
      }),
      { numRuns: runs, ...(process.env["FC_SEED"] && { seed: Number(process.env["FC_SEED"]) }) },
    );
  });
});
