import { letProcessEnd } from "../../runtime/let-process-end.js";
import { LedgerUnavailableError } from "../credit-ledger.js";

// Read when the module is loaded: a host's tests may replace the timers later by fake ones.
const { setTimeout, clearTimeout } = globalThis;

/** A database that is well is hardly ever so long without any answer. */
const stepMs = 750;
const mostRepeats = 2;
/** Of all sends that wait, at a time: each takes a connection of the pool, and rows may just be locked. */
const mostRepeating = 2;
/** From then on it is sent again even where others are answered. */
const slowSteps = 4;
/** Nobody waits for its answer any more. */
const lastStep = 40;

/** What is sent to a database. */
export interface Sent<Answer> {
  send(): Promise<Answer>;
  /** Whether a second one does no harm where the first was done, and its answer was lost. */
  readonly mayRepeat: boolean;
}

/**
 * Sends what a connection may have died with, without a word, so that it has no answer for minutes. While the database answers
 * nothing at all, it is sent again after 750 ms and after 1.5 s; while the database answers others, once, after three seconds. A
 * pool gives each another connection. After 30 seconds it is given up, so that its accounts can go on.
 */
export class RepeatedSends {
  readonly #database: string;
  #answers = 0;
  #repeating = 0;

  /** @param database - its name, for messages. */
  constructor(database: string) {
    this.#database = database;
  }

  run<Answer>({ send, mayRepeat }: Sent<Answer>): Promise<Answer> {
    let repeating = 0;
    const counted = async () => {
      const answer = await send();
      this.#answers++;
      return answer;
    };
    const onRepeatOver = (): void => {
      if (repeating === 0) return;
      repeating--;
      this.#repeating--;
    };
    const answered = new Promise<Answer>((resolve, reject) => {
      new Sending<Answer>({
        send: counted,
        repeat: () => {
          if (!mayRepeat || this.#repeating >= mostRepeating) return undefined;
          this.#repeating++;
          repeating++;
          return counted().finally(onRepeatOver);
        },
        answers: () => this.#answers,
        ...{ database: this.#database, resolve, reject },
      }).start();
    });
    // A repetition may be lost itself. Then it does not keep others from theirs for as long as its dead connection lasts.
    return answered.finally(() => {
      this.#repeating -= repeating;
      repeating = 0;
    });
  }
}

interface SendingParts<Answer> {
  readonly database: string;
  send(): Promise<Answer>;
  /** @returns `undefined`: it may not be sent again, or too many are already. */
  repeat(): Promise<Answer> | undefined;
  /** How many were answered by now. */
  answers(): number;
  resolve(answer: Answer): void;
  reject(error: unknown): void;
}

class Sending<Answer> {
  readonly #parts: SendingParts<Answer>;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #step = 0;
  #sent = 0;
  #underWay = 0;
  #answersBefore = 0;

  constructor(parts: SendingParts<Answer>) {
    this.#parts = parts;
  }

  start(): void {
    this.#wait();
    this.#follow(this.#parts.send());
  }

  #wait(): void {
    this.#timer = setTimeout(() => this.#onStep(), stepMs);
    letProcessEnd(this.#timer);
  }

  #onStep(): void {
    this.#step++;
    if (this.#step === lastStep) {
      this.#parts.reject(new LedgerUnavailableError(`${this.#parts.database} has not answered for 30 seconds.`));
      return;
    }
    this.#wait();
    const isSilent = this.#parts.answers() === this.#answersBefore;
    const isDue = isSilent ? this.#sent <= mostRepeats : this.#sent === 1 && this.#step >= slowSteps;
    const repeated = isDue ? this.#parts.repeat() : undefined;
    if (repeated !== undefined) this.#follow(repeated);
  }

  #follow(sent: Promise<Answer>): void {
    this.#sent++;
    this.#underWay++;
    this.#answersBefore = this.#parts.answers();
    sent.then(
      (answer) => {
        clearTimeout(this.#timer);
        this.#parts.resolve(answer);
      },
      (error: unknown) => {
        if (--this.#underWay > 0) return;
        clearTimeout(this.#timer);
        this.#parts.reject(error);
      },
    );
  }
}
