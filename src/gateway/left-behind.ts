import type { KeyUses } from "../access/key-uses.js";
import type { OpenCalls } from "../call/open-calls.js";
import { atMost, nextTurn } from "../ledger/promised.js";
import type { BackgroundWork } from "../runtime/background-work.js";
import type { IdsOfRequest } from "../server/host-wait.js";
import type { RequestLogWriter } from "./request-log/request-log-writer.js";

/** Hosts that wait for a request's work do so for half a minute, or a little longer. */
const longestMs = 30_000;
/** What waits longer is called at once. */
const longestTimerMs = 2 ** 31 - 1;

export interface LeftBehindParts {
  readonly openCalls: OpenCalls;
  readonly background: BackgroundWork;
  /** `undefined`: the key store does not keep when keys were used. */
  readonly keyUses: Pick<KeyUses, "flush"> | undefined;
  /** `undefined`: requests are not logged. */
  readonly log: Pick<RequestLogWriter, "flush" | "flushAll"> | undefined;
  /** What else is being written: of each, when that has ended, or `maxMs` are over. None rejects. */
  readonly others: readonly ((maxMs: number) => Promise<void>)[];
  /** Whether no request may wait for what another one has begun: see `isIsolate`. */
  readonly isolate: boolean;
}

/** What requests leave behind when they have ended: settlements, lines of the request log, uses of keys, calls of hooks. */
export class LeftBehind {
  readonly #parts: LeftBehindParts;

  constructor(parts: LeftBehindParts) {
    this.#parts = parts;
  }

  /** Resolves when nothing of an ended request waits to be written, or after half a minute. */
  async ofRequest({ requestId, callId }: IdsOfRequest): Promise<void> {
    const { background, isolate } = this.#parts;
    const written = isolate
      ? this.#writtenAfter(background.of(requestId, callId), requestId)
      : this.#allWritten(longestMs);
    await atMost(longestMs, written);
  }

  /**
   * Resolves when the calls that are open now have ended, and nothing waits to be written, or after `maxMs`.
   * @throws RangeError when `maxMs` is not a number of at least 0.
   */
  async idle(given = longestMs): Promise<void> {
    if (typeof given !== "number" || !(given >= 0)) {
      throw new RangeError(`gateway.idle: maxMs must be a number of milliseconds of at least 0, not ${given}.`);
    }
    const maxMs = Math.min(given, longestTimerMs);
    const ended = async (): Promise<void> => {
      await this.#parts.openCalls.idle(maxMs);
      // A client that has left ends its call in this turn.
      await nextTurn();
      await Promise.all([this.#allWritten(maxMs), this.#parts.log?.flushAll()]);
    };
    await atMost(maxMs, ended());
  }

  async #allWritten(maxMs: number): Promise<void> {
    const { background, others } = this.#parts;
    await this.#writtenAfter(Promise.all([background.idle(), ...others.map((settled) => settled(maxMs))]));
  }

  async #writtenAfter(work: Promise<unknown>, requestId?: string): Promise<void> {
    const { keyUses, log } = this.#parts;
    await Promise.all([work, keyUses?.flush(), log?.flush(requestId)]);
  }
}
