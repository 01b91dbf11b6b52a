import { describe, expect, it, vi } from "vitest";
import { LedgerInputError, LedgerUnavailableError } from "../../../../src/ledger/credit-ledger.js";
import { batchBounds } from "../../../../src/stores/postgres/ledger/account-queue.js";
import type { OperationReply } from "../../../../src/stores/postgres/ledger/operation-reply.js";
import { Statements, turn } from "./statements.js";

const bounds = batchBounds();

async function statuses(answers: Promise<OperationReply>[]): Promise<number[]> {
  return (await Promise.all(answers)).map(({ status }) => Number(status));
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

describe("AccountQueue", () => {
  it("sends what comes in one turn together, the accounts in one order", async () => {
    const statements = new Statements(bounds);
    const names = ["b", "a", "__proto__", "ä", "\u{1f600}", "\ufb01", "B"];
    const answers = names.flatMap((account, index) => statements.submit(account, index));
    expect(statements.sent).toEqual([]);
    await turn();
    expect(statements.sent.map(({ batches }) => batches.map(({ account }) => account))).toEqual([
      ["B", "__proto__", "a", "b", "ä", "\u{1f600}", "\ufb01"],
    ]);
    await statements.sent[0]?.answer();
    expect(await statuses(answers)).toEqual([0, 1, 2, 3, 4, 5, 6]);
  });

  it("sends a lone operation in the turn in which it came, while a slot is free", async () => {
    const statements = new Statements(bounds);
    void statements.submit("a", 1);
    await turn();
    void statements.submit("b", 2);
    await turn();
    void statements.submit("c", 3);
    await turn();
    expect(statements.sizes()).toEqual([{ a: 1 }, { b: 1 }]);
    await statements.sent[1]?.answer();
    expect(statements.sizes()).toEqual([{ a: 1 }, { b: 1 }, { c: 1 }]);
  });

  it("sends what waits before the callers of what was answered go on", async () => {
    const statements = new Statements({ ...bounds, inFlight: 1 });
    const first = statements.submit("a", 1);
    await turn();
    void statements.submit("b", 2);
    const sentBefore = first[0]?.then(() => statements.sent.length);
    await statements.sent[0]?.answer();
    expect(await sentBefore).toBe(2);
  });

  it("puts no more than 32 operations of several accounts in a statement", async () => {
    const statements = new Statements(bounds);
    const answers = numbers(1, 20).flatMap((n) => statements.submit(`a${n}`, 3 * n, 3 * n + 2));
    await turn();
    expect(statements.sent.map((statement) => statement.numbers.length)).toEqual([32, 27]);
    await statements.answerAll();
    // The rest of the account of which only a part had room.
    expect(statements.sent[2]?.numbers).toEqual([35]);
    expect(await statuses(answers)).toEqual(numbers(3, 62));
  });

  it("takes what has room of an account, and the rest later", async () => {
    const statements = new Statements({ ...bounds, operations: 4, ownFrom: 4 });
    const answers = [...statements.submit("a", 1, 3), ...statements.submit("b", 4, 6)];
    await turn();
    await statements.answerAll();
    expect(statements.sizes()).toEqual([{ a: 3, b: 1 }, { b: 2 }]);
    expect(await statuses(answers)).toEqual(numbers(1, 6));
  });

  it("gives an account with eight operations waiting a statement of its own, of up to 64", async () => {
    const statements = new Statements(bounds);
    const answers = [
      ...statements.submit("few", 1, 7),
      ...statements.submit("many", 8, 147),
      ...statements.submit("one", 148),
    ];
    await turn();
    await statements.answerAll();
    expect(statements.sizes()).toEqual([{ few: 7, one: 1 }, { many: 64 }, { many: 64 }, { many: 12 }]);
    expect(await statuses(answers)).toEqual(numbers(1, 148));
  });

  it("has an account in one statement at a time, and no more statements under way than allowed", async () => {
    const statements = new Statements(bounds);
    void statements.submit("a", 1);
    await turn();
    void statements.submit("a", 2);
    await turn();
    expect(statements.sizes()).toEqual([{ a: 1 }]);
    void statements.submit("b", 3);
    await turn();
    void statements.submit("c", 4);
    await turn();
    expect(statements.sizes()).toEqual([{ a: 1 }, { b: 1 }]);
    await statements.sent[0]?.answer();
    expect(statements.sizes()).toEqual([{ a: 1 }, { b: 1 }, { a: 1, c: 1 }]);
  });

  it.each([1, 2])(
    "lets a busy account hold up another's first operation by one batch at most: %d in flight",
    async (inFlight) => {
      const statements = new Statements({ ...bounds, inFlight });
      void statements.submit("busy", 1, 1_000);
      await turn();
      for (const other of ["b", "c", "d"]) {
        void statements.submit(other, 2_000);
        await turn();
        if (inFlight === 1) await statements.sent.at(-1)?.answer();
        expect(statements.sizes().at(-1)).toEqual({ [other]: 1 });
        await statements.sent.at(-1)?.answer();
        expect(statements.sizes().at(-1)?.["busy"]).toBe(inFlight === 1 ? 64 : undefined);
      }
    },
  );

  it("lets a statement that takes long hold up its own accounts alone", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    try {
      const statements = new Statements({ ...bounds, inFlight: 1 });
      const [locked] = statements.submit("locked", 1);
      await turn();
      const [again] = statements.submit("locked", 2);
      const [other] = statements.submit("other", 3);
      await turn();
      vi.advanceTimersByTime(249);
      expect(statements.sizes()).toEqual([{ locked: 1 }]);
      vi.advanceTimersByTime(1);
      expect(statements.sizes()).toEqual([{ locked: 1 }, { other: 1 }]);
      await statements.sent[0]?.answer();
      // The other one is under way still.
      expect(statements.sent).toHaveLength(2);
      await statements.sent[1]?.answer();
      expect(statements.sizes()).toEqual([{ locked: 1 }, { other: 1 }, { locked: 1 }]);
      await statements.sent[2]?.answer();
      expect((await Promise.all([locked, again, other])).map((answer) => answer?.status)).toEqual(["1", "2", "3"]);
      expect(vi.getTimerCount()).toBe(0);
    } finally {
      vi.useRealTimers();
    }
  });

  it("fails what was in the statement, and goes on", async () => {
    const statements = new Statements(bounds);
    const answers = [...statements.submit("a", 1), ...statements.submit("b", 2)];
    const settled = Promise.allSettled(answers);
    await turn();
    const later = statements.submit("a", 3);
    await statements.sent[0]?.fail(new LedgerUnavailableError("gone"));
    expect((await settled).map((result) => (result.status === "rejected" ? result.reason.message : "done"))).toEqual([
      "gone",
      "gone",
    ]);
    await statements.answerAll(1);
    expect(await statuses(later)).toEqual([3]);
    expect(statements.sent).toHaveLength(2);
  });

  it("sends a batch again in halves when the database refuses a value in it", async () => {
    const statements = new Statements(bounds);
    const answers = numbers(1, 8).flatMap((n) => statements.submit(`a${n % 4}`, n));
    const settled = Promise.allSettled(answers);
    await turn();
    const refused = 7;
    for (let index = 0; index < statements.sent.length; index++) {
      const statement = statements.sent[index];
      if (statement?.numbers.includes(refused)) await statement.fail(new LedgerInputError("refused"));
      else await statement?.answer();
    }
    const results = (await settled).map((result) =>
      result.status === "fulfilled" ? Number(result.value.status) : "refused",
    );
    expect(results).toEqual([1, 2, 3, 4, 5, 6, "refused", 8]);
    expect(statements.sent.map((statement) => statement.numbers)).toEqual([
      [4, 8, 1, 5, 2, 6, 3, 7],
      [4, 8, 1, 5],
      [2, 6, 3, 7],
      [2, 6],
      [3, 7],
      [3],
      [7],
    ]);
  });

  it("does not send again what the database did not answer", async () => {
    const statements = new Statements(bounds);
    const settled = Promise.allSettled(statements.submit("a", 1, 4));
    await turn();
    await statements.sent[0]?.fail(new LedgerInputError("refused"));
    await statements.sent[1]?.fail(new LedgerUnavailableError("gone"));
    await statements.sent[2]?.answer();
    expect((await settled).map(({ status }) => status)).toEqual(["rejected", "rejected", "fulfilled", "fulfilled"]);
    expect(statements.sent).toHaveLength(3);
  });

  it("lets no more than 10,000 operations of an account wait, and those of others are not affected", async () => {
    const statements = new Statements(bounds);
    const answers = statements.submit("a", 1, 10_001);
    await expect(answers.pop()).rejects.toBeInstanceOf(LedgerUnavailableError);
    const other = statements.submit("b", 20_000);
    await turn();
    expect(statements.sizes()).toEqual([{ a: 64 }, { b: 1 }]);
    answers.push(...statements.submit("a", 10_001, 10_064));
    await expect(statements.submit("a", 0)[0]).rejects.toBeInstanceOf(LedgerUnavailableError);
    await statements.answerAll();
    expect(await statuses(answers)).toEqual(numbers(1, 10_064));
    expect(await statuses(other)).toEqual([20_000]);
  });

  it("lets no more than 100,000 operations of all accounts be there, also under way", async () => {
    const statements = new Statements(bounds);
    const answers = numbers(0, 9).flatMap((n) => statements.submit(`a${n}`, n * 10_000, n * 10_000 + 9_999));
    const refused = () => expect(statements.submit("other", 0)[0]).rejects.toBeInstanceOf(LedgerUnavailableError);
    await refused();
    await turn();
    await refused();
    await statements.sent[0]?.answer();
    answers.push(...statements.submit("other", 100_000));
    await statements.answerAll(1);
    expect(await statuses(answers)).toEqual(numbers(0, 100_000));
  });

  it("is idle when everything was answered, however it was", async () => {
    const statements = new Statements(bounds);
    await statements.queue.idle();
    const answers = [
      ...statements.submit("a", 1, 200),
      ...numbers(1, 100).flatMap((n) => statements.submit(`b${n}`, n)),
    ];
    let settled = 0;
    for (const answer of answers)
      void answer.then(
        () => settled++,
        () => settled++,
      );
    const idle = statements.queue.idle().then(() => settled);
    await turn();
    await statements.sent[0]?.fail(new LedgerUnavailableError("gone"));
    await statements.answerAll(1);
    expect(await idle).toBe(300);
  });

  it("groups the operations of an account alone, and has no bound of statements, where batches are off", async () => {
    const statements = new Statements(batchBounds(false));
    const answers = [...statements.submit("a", 1, 3), ...statements.submit("b", 4, 73), ...statements.submit("c", 74)];
    await turn();
    expect(statements.sizes()).toEqual([{ a: 3 }, { b: 64 }, { c: 1 }]);
    await statements.answerAll();
    expect(statements.sizes()).toEqual([{ a: 3 }, { b: 64 }, { c: 1 }, { b: 6 }]);
    expect(await statuses(answers)).toEqual(numbers(1, 74));
  });
});

describe("batchBounds", () => {
  it("has defaults", () => {
    expect(batchBounds()).toEqual({ operations: 32, inFlight: 2, ownFrom: 8 });
    expect(batchBounds({ operations: undefined, inFlight: 4 })).toEqual({ operations: 32, inFlight: 4, ownFrom: 8 });
    expect(batchBounds({ operations: 1 })).toEqual({ operations: 1, inFlight: 2, ownFrom: 1 });
  });

  it.each([0, -1, 1.5, 65, Number.NaN, Number.POSITIVE_INFINITY, "2" as unknown as number])("refuses %s", (count) => {
    expect(() => batchBounds({ operations: count })).toThrow("batch.operations must be a whole number from 1 to 64");
    expect(() => batchBounds({ inFlight: count })).toThrow(RangeError);
  });
});
