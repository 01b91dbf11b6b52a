import { LedgerUnavailableError } from "../../ledger/credit-ledger.js";
import type { LedgerAnswer } from "../ledger-answer.js";
import type { AccountBatch } from "./account-batch.js";
import type { RunBatches } from "./run-in-halves.js";

// Read when the module is loaded: a host's tests may replace the timers later by fake ones.
const { setTimeout, clearTimeout } = globalThis;

/** A database that is well is hardly ever so long without any answer. */
const stepMs = 750;
const mostRepeats = 2;
/** Of all statements that wait, at a time: each takes a connection of the pool, and rows may just be locked. */
const mostRepeating = 2;
/** From then on a statement is sent again even where others are answered. */
const slowSteps = 4;
/** Nobody waits for its answer any more. */
const lastStep = 40;

/**
 * Runs statements of which a connection may have died without a word, so that what is sent on it has no answer for minutes.
 * While the database answers nothing at all, a statement is sent again after 750 ms and after 1.5 s; while it answers others,
 * once, after three seconds. A pool gives each another connection. What was done already is told by its id. After 30 seconds a
 * statement is given up, so that its accounts can go on.
 */
export class RepeatedStatements {
  readonly #run: RunBatches;
  #answers = 0;
  #repeating = 0;

  constructor(run: RunBatches) {
    this.#run = run;
  }

  run(batches: readonly AccountBatch[]): Promise<readonly LedgerAnswer[]> {
    let repeating = 0;
    const onRepeatOver = (): void => {
      if (repeating === 0) return;
      repeating--;
      this.#repeating--;
    };
    const answered = new Promise<readonly LedgerAnswer[]>((resolve, reject) => {
      new Statement(batches, {
        send: () => this.#send(batches),
        repeat: () => {
          if (this.#repeating >= mostRepeating) return undefined;
          this.#repeating++;
          repeating++;
          return this.#send(batches).finally(onRepeatOver);
        },
        answers: () => this.#answers,
        ...{ resolve, reject },
      }).start();
    });
    // A repetition may be lost itself. Then it does not keep others from theirs for as long as its dead connection lasts.
    return answered.finally(() => {
      this.#repeating -= repeating;
      repeating = 0;
    });
  }

  async #send(batches: readonly AccountBatch[]): Promise<readonly LedgerAnswer[]> {
    const answers = await this.#run(batches);
    this.#answers++;
    return answers;
  }
}

interface StatementParts {
  send(): Promise<readonly LedgerAnswer[]>;
  /** @returns `undefined`: too many are sent again already. */
  repeat(): Promise<readonly LedgerAnswer[]> | undefined;
  /** How many statements were answered by now. */
  answers(): number;
  resolve(answers: readonly LedgerAnswer[]): void;
  reject(error: unknown): void;
}

class Statement {
  readonly #parts: StatementParts;
  readonly #mayRepeat: boolean;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #step = 0;
  #sent = 0;
  #underWay = 0;
  #answersBefore = 0;

  constructor(batches: readonly AccountBatch[], parts: StatementParts) {
    this.#parts = parts;
    // A reset has no id: a second one would take away what was charged after the first.
    this.#mayRepeat = batches.every(({ operations }) => operations.every(({ op }) => op !== "reset"));
  }

  start(): void {
    this.#wait();
    this.#follow(this.#parts.send());
  }

  #wait(): void {
    this.#timer = setTimeout(() => this.#onStep(), stepMs);
    if (typeof this.#timer === "object") this.#timer.unref?.();
  }

  #onStep(): void {
    this.#step++;
    if (this.#step === lastStep) {
      this.#parts.reject(new LedgerUnavailableError("PostgreSQL has not answered for 30 seconds."));
      return;
    }
    this.#wait();
    const isSilent = this.#parts.answers() === this.#answersBefore;
    const isDue = isSilent ? this.#sent <= mostRepeats : this.#sent === 1 && this.#step >= slowSteps;
    const repeated = this.#mayRepeat && isDue ? this.#parts.repeat() : undefined;
    if (repeated !== undefined) this.#follow(repeated);
  }

  #follow(sent: Promise<readonly LedgerAnswer[]>): void {
    this.#sent++;
    this.#underWay++;
    this.#answersBefore = this.#parts.answers();
    sent.then(
      (answers) => {
        clearTimeout(this.#timer);
        this.#parts.resolve(answers);
      },
      (error: unknown) => {
        if (--this.#underWay > 0) return;
        clearTimeout(this.#timer);
        this.#parts.reject(error);
      },
    );
  }
}
