import { describe, expect, it } from "vitest";
import { LedgerInputError, LedgerUnavailableError } from "../../src/ledger/credit-ledger.js";
import { type AccountBatch, AccountQueue } from "../../src/postgres/account-queue.js";
import type { LedgerAnswer } from "../../src/postgres/ledger-answer.js";
import type { LedgerOperation } from "../../src/postgres/ledger-operation.js";

const operation = (n: number): LedgerOperation => ({ op: "reserve", n });

/** The statements that reach the database; the test returns the result of each. */
class Statements {
  readonly sent: { batch: AccountBatch; answer(): void; fail(error: Error): void }[] = [];
  readonly queue = new AccountQueue(
    (batch) =>
      new Promise((resolve, reject) => {
        const answers = batch.operations.map(({ n }) => ({ status: String(n) }) as unknown as LedgerAnswer);
        this.sent.push({ batch, answer: () => resolve(answers), fail: reject });
      }),
  );

  submit(account: string, from: number, to: number): Promise<LedgerAnswer>[] {
    return Array.from({ length: to - from + 1 }, (_, index) => this.queue.submit(account, operation(from + index)));
  }

  sizes(account: string): number[] {
    return this.sent.filter(({ batch }) => batch.account === account).map(({ batch }) => batch.operations.length);
  }
}

/** For what a settled promise sets off. */
const turn = () => new Promise((resolve) => setImmediate(resolve));

describe("AccountQueue", () => {
  it("sends the first operation at once, and what comes meanwhile together, at most 64", async () => {
    const statements = new Statements();
    const answers = statements.submit("a", 1, 140);
    for (let statement = 0; statement < 4; statement++) {
      expect(statements.sent).toHaveLength(statement + 1);
      statements.sent[statement]?.answer();
      await turn();
    }
    expect(statements.sizes("a")).toEqual([1, 64, 64, 11]);
    const statuses = (await Promise.all(answers)).map(({ status }) => Number(status));
    expect(statuses).toEqual(Array.from({ length: 140 }, (_, index) => index + 1));
  });

  it("lets no account wait for another", () => {
    const statements = new Statements();
    for (const account of ["a", "b", "c", "__proto__"]) void statements.submit(account, 1, 2);
    expect(statements.sent.map(({ batch }) => batch.account)).toEqual(["a", "b", "c", "__proto__"]);
  });

  it("fails what was in the statement, and goes on", async () => {
    const statements = new Statements();
    const answers = statements.submit("a", 1, 3);
    statements.sent[0]?.fail(new LedgerUnavailableError("gone"));
    await expect(answers[0]).rejects.toThrow("gone");
    await turn();
    statements.sent[1]?.answer();
    expect((await Promise.all(answers.slice(1))).map(({ status }) => status)).toEqual(["2", "3"]);
  });

  it("sends operations one by one when the database refuses a value among them", async () => {
    const statements = new Statements();
    const answers = statements.submit("a", 1, 4);
    const settled = Promise.allSettled(answers);
    statements.sent[0]?.answer();
    await turn();
    statements.sent[1]?.fail(new LedgerInputError("refused"));
    for (const index of [2, 3, 4]) {
      await turn();
      if (index === 3) statements.sent[index]?.fail(new LedgerInputError("refused"));
      else statements.sent[index]?.answer();
    }
    expect((await settled).map(({ status }) => status)).toEqual(["fulfilled", "fulfilled", "rejected", "fulfilled"]);
    expect(statements.sizes("a")).toEqual([1, 3, 1, 1, 1]);
  });

  it("refuses to let more than 10,000 wait", async () => {
    const statements = new Statements();
    const answers = statements.submit("a", 1, 10_002);
    await expect(answers.pop()).rejects.toBeInstanceOf(LedgerUnavailableError);
    for (let statement = 0; statement < 158; statement++) {
      statements.sent[statement]?.answer();
      await turn();
    }
    await Promise.all(answers);
  });

  it("forgets an account for which nothing waits", async () => {
    const statements = new Statements();
    for (let round = 1; round <= 3; round++) {
      const [answer] = statements.submit("a", round, round);
      statements.sent.at(-1)?.answer();
      await answer;
      await turn();
    }
    expect(statements.sizes("a")).toEqual([1, 1, 1]);
  });
});
