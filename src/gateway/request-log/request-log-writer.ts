import type { RequestCompleted } from "../../events/request-completed.js";
import type { Warn } from "../../events/warning.js";
import type { Clock } from "../../ledger/calendar.js";
import type { LoggedRequest, LoggedTexts, RequestLog } from "../../request-log/request-log.js";
import { waitFor } from "../../routing/wait-for.js";
import { letProcessEnd } from "../../runtime/let-process-end.js";
import { runtime } from "../../runtime/this-runtime.js";
import type { KeptTexts } from "./kept-texts.js";
import { RefusalPace } from "./refusal-pace.js";
import type { Redact } from "./request-log-options.js";
import { lineBytes, toLoggedRequest } from "./to-logged-request.js";

/** What waits to be written. */
export interface RequestLogBacklog {
  /** Lines that wait to be written, or are being written. */
  readonly waiting: number;
  /** Lines that were dropped since the gateway was made. */
  readonly dropped: number;
}

export interface WriterOptions {
  readonly store: RequestLog;
  /** So many lines wait at most, and so many bytes of them. */
  readonly maxRows: number;
  readonly maxBytes: number;
  readonly warn: Warn;
  readonly clock: Clock;
  /** Whether lines are written by {@link RequestLogWriter.flush} alone, apart from what others write: see `isIsolate`. */
  readonly isolate?: boolean | undefined;
  /** `undefined`: no texts are kept. */
  readonly redact?: Redact | undefined;
}

/** Lines that are being written together. */
interface Batch {
  lines: readonly LoggedRequest[];
  /** One write. It never rejects. */
  writing: Promise<void> | undefined;
  /** Resolves when they are written or dropped. */
  over: Promise<void>;
  /** While it waits to be written again: ends that pause. */
  wake?: () => void;
  /** By the monotonic clock, in milliseconds. */
  readonly begunAt: number;
}

const linesPerBatch = 200;
/** Lines wait as long for others. */
const flushMs = 500;
/** A batch that failed is written again after these pauses, and then dropped. Its ids keep it from having two effects. */
const retryPausesMs = [200, 2_000];
const warnEveryMs = 10_000;
/** No work of an isolate's request lasts longer: a batch of one that has ended in the middle never ends. */
const longestAloneMs = 35_000;

/**
 * Writes the lines of a log behind the answers, a batch at a time. One batch is under way at most, so a store that hangs
 * takes one of the host's connections, and no more. In an isolate, each request writes what waits when it ends. What finds
 * no room is dropped and counted.
 */
export class RequestLogWriter {
  readonly #options: WriterOptions;
  readonly #pace = new RefusalPace();
  /** Begins the ids of this writer's lines. Made with the first one: a Worker has no random numbers before its first request. */
  #run: string | undefined;
  #lines = 0;
  #queue: LoggedRequest[] = [];
  readonly #batches = new Set<Batch>();
  #bytes = 0;
  #dropped = 0;
  /** What was dropped since the last warning, and when that was. */
  #untold = 0;
  #toldAt = Number.NEGATIVE_INFINITY;
  #cause: unknown;
  #timer: ReturnType<typeof setTimeout> | undefined;
  #draining: Promise<void> | undefined;
  #isClosing = false;

  constructor(options: WriterOptions) {
    this.#options = options;
  }

  get backlog(): RequestLogBacklog {
    return { waiting: this.#waiting, dropped: this.#dropped };
  }

  /** Notes a request that has ended. Never throws. */
  readonly add = (event: RequestCompleted, kept?: Pick<KeptTexts, "texts">): void => {
    // Nobody calls with it: it is a browser that asks whether it may.
    if (event.status === 204) return;
    this.#run ??= runtime.randomBytes(9).toString("base64url");
    const line = toLoggedRequest(event, `${this.#run}-${(this.#lines++).toString(36)}`);
    if (kept !== undefined) this.#addTexts(line, kept.texts);
    this.#enqueueAll(this.#pace.take(line, this.#options.clock.now()));
    this.#schedule();
  };

  /**
   * Resolves when all that is noted by now is written or dropped, however many lines come meanwhile.
   * @param requestId - in an isolate: the request that has ended. Its lines are written also where another request has begun
   * to write them, which may have ended as it did.
   */
  async flush(requestId?: string): Promise<void> {
    if (this.#options.isolate) {
      // It has no timer that would end their minute.
      this.#enqueueAll(this.#pace.end(this.#options.clock.now()));
      this.#takeBack(requestId);
      return this.#writeAll();
    }
    const last = this.#queue.at(-1);
    do {
      if (last !== undefined && this.#queue.includes(last)) void this.#drain();
      await Promise.all(Array.from(this.#batches, ({ over }) => over));
    } while (last !== undefined && this.#holds(last));
  }

  /** As {@link flush}, and with the lines that stand for many refusals, though their minute is not over. */
  flushAll(): Promise<void> {
    this.#enqueueAll(this.#pace.flush());
    return this.flush();
  }

  /** Of batches of others: the lines of this request, and those of batches whose request is gone. Their ids keep them single. */
  #takeBack(requestId: string | undefined): void {
    const goneBefore = performance.now() - longestAloneMs;
    for (const batch of this.#batches) {
      const isGone = batch.begunAt < goneBefore;
      const isTaken = (line: LoggedRequest) => isGone || line.requestId === requestId;
      this.#queue.push(...batch.lines.filter(isTaken));
      batch.lines = batch.lines.filter((line) => !isTaken(line));
      if (isGone) this.#batches.delete(batch);
    }
  }

  #holds(line: LoggedRequest): boolean {
    return this.#queue.includes(line) || [...this.#batches].some(({ lines }) => lines.includes(line));
  }

  /** Drops what waits of an account, and waits for the batches that are being written. */
  async forget(account: string): Promise<void> {
    const isOther = (line: LoggedRequest) => line.account !== account;
    this.#pace.forget(account);
    this.#queue = this.#queue.filter((line) => isOther(line) || this.#release(line));
    for (const batch of this.#batches) batch.lines = batch.lines.filter((line) => isOther(line) || this.#release(line));
    await Promise.all([...this.#batches].map(({ writing }) => writing));
  }

  /** Writes what waits, for `graceMs` at most, and drops the rest. */
  async close(graceMs: number): Promise<void> {
    this.#isClosing = true;
    for (const { wake } of this.#batches) wake?.();
    const written = this.flushAll();
    await waitFor(graceMs, [], (wake) => void written.then(wake));
    clearTimeout(this.#timer);
    this.#drop(this.#queue.splice(0));
    for (const batch of this.#batches) this.#dropBatch(batch);
    this.#tell(true);
  }

  #addTexts(line: LoggedRequest, all: LoggedTexts | undefined): void {
    const texts = all && this.#options.redact?.(all, line);
    if (texts !== undefined) line.texts = texts;
  }

  #enqueueAll(lines: readonly LoggedRequest[]): void {
    for (const line of lines) this.#enqueue(line);
  }

  #enqueue(line: LoggedRequest): void {
    const { maxRows, maxBytes } = this.#options;
    const bytes = lineBytes(line);
    if (this.#waiting >= maxRows || this.#bytes + bytes > maxBytes) {
      this.#dropped++;
      this.#untold++;
      this.#tell();
      return;
    }
    this.#bytes += bytes;
    this.#queue.push(line);
  }

  get #waiting(): number {
    let count = this.#queue.length;
    for (const { lines } of this.#batches) count += lines.length;
    return count;
  }

  #schedule(): void {
    if (this.#options.isolate) return;
    if (this.#queue.length >= linesPerBatch) void this.#drain();
    else if (this.#queue.length > 0 || this.#pace.hasRest) this.#timer ??= this.#startTimer();
  }

  #startTimer(): ReturnType<typeof setTimeout> {
    const timer = setTimeout(() => {
      this.#timer = undefined;
      this.#enqueueAll(this.#pace.end(this.#options.clock.now()));
      if (this.#queue.length > 0) void this.#drain();
      else this.#schedule();
    }, flushMs);
    letProcessEnd(timer);
    return timer;
  }

  #drain(): Promise<void> {
    this.#draining ??= this.#writeAll().finally(() => {
      this.#draining = undefined;
      this.#schedule();
    });
    return this.#draining;
  }

  async #writeAll(): Promise<void> {
    while (this.#queue.length > 0) {
      const lines = this.#queue.splice(0, linesPerBatch);
      const batch: Batch = { lines, writing: undefined, over: Promise.resolve(), begunAt: performance.now() };
      this.#batches.add(batch);
      batch.over = this.#endBatch(batch);
      await batch.over;
    }
  }

  async #endBatch(batch: Batch): Promise<void> {
    await this.#writeBatch(batch);
    for (const line of batch.lines) this.#release(line);
    this.#batches.delete(batch);
  }

  async #writeBatch(batch: Batch): Promise<void> {
    for (const pauseMs of [...retryPausesMs, undefined]) {
      if (batch.lines.length === 0 || (await this.#tryBatch(batch))) return;
      if (pauseMs === undefined || this.#isClosing) break;
      await waitFor(pauseMs, [], (wake) => {
        batch.wake = wake;
      });
    }
    this.#dropBatch(batch);
  }

  /** @returns whether it is written. */
  async #tryBatch(batch: Batch): Promise<boolean> {
    const write = async () => this.#options.store.write(batch.lines);
    let isWritten = true;
    batch.writing = write().catch((cause: unknown) => {
      isWritten = false;
      this.#cause = cause;
    });
    await batch.writing;
    batch.writing = undefined;
    return isWritten;
  }

  #dropBatch(batch: Batch): void {
    this.#drop(batch.lines);
    batch.lines = [];
  }

  #drop(lines: readonly LoggedRequest[]): void {
    if (lines.length === 0) return;
    for (const line of lines) this.#release(line);
    this.#dropped += lines.length;
    this.#untold += lines.length;
    this.#tell();
  }

  /** Its bytes wait no more. @returns `false`, for filters. */
  #release(line: LoggedRequest): false {
    this.#bytes -= lineBytes(line);
    return false;
  }

  /** Warns of what was dropped, once in a while. */
  #tell(isLast = false): void {
    const now = performance.now();
    if (this.#untold === 0 || (!isLast && now - this.#toldAt < warnEveryMs)) return;
    const [count, cause] = [this.#untold, this.#cause];
    this.#untold = 0;
    this.#toldAt = now;
    this.#options.warn({
      code: "request_log_dropped",
      message: `The request log does not keep up, or fails: ${count} more lines were dropped. Calls go on as ever.`,
      ...(cause !== undefined && { cause }),
    });
  }
}
