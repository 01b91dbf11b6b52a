import type { LoggedRequest } from "../../request-log/request-log.js";

/** So many that are refused alike have lines of their own in a minute. */
const mostAlike = 20;
/** So many of all. */
const mostOwn = 600;
/** So many kinds of the rest are told apart. */
const mostKinds = 500;
const minuteMs = 60_000;

/**
 * Keeps a flood of refusals from filling a log: requests of a client that tries keys, or goes on against its limit. Of those
 * that are alike, the first of a minute have lines of their own. The rest has one line, with their number, which is written
 * after the minute. So refusals take some 1,100 lines a minute at most, whatever comes.
 */
export class RefusalPace {
  #minute = Number.NaN;
  #own = 0;
  /** How many lines each kind has in this minute. */
  readonly #alike = new Map<string, number>();
  readonly #rest = new Map<string, LoggedRequest & { count: number }>();

  /** Whether lines wait for the end of their minute. */
  get hasRest(): boolean {
    return this.#rest.size > 0;
  }

  /** @returns what is to be written now: the line, unless it waits, and after it what waited for a minute that is over. */
  take(line: LoggedRequest, now: number): readonly LoggedRequest[] {
    const rest = this.end(now);
    if (line.status < 400 || line.attempts.length > 0) return [line, ...rest];
    const kind = kindOf(line);
    const lines = this.#alike.get(kind) ?? 0;
    if (lines < mostAlike && this.#own < mostOwn) {
      this.#alike.set(kind, lines + 1);
      this.#own++;
      return [line, ...rest];
    }
    this.#wait(kind, line);
    return rest;
  }

  /** Begins a new minute, if it is one. @returns what waited. */
  end(now: number): readonly LoggedRequest[] {
    const minute = Math.floor(now / minuteMs);
    return minute === this.#minute ? [] : this.#begin(minute);
  }

  /** @returns what waits, though its minute is not over. */
  flush(): readonly LoggedRequest[] {
    return this.#begin(Number.NaN);
  }

  /** Drops what waits of an account. */
  forget(account: string): void {
    for (const [kind, line] of this.#rest) if (line.account === account) this.#rest.delete(kind);
  }

  #begin(minute: number): readonly LoggedRequest[] {
    const rest = [...this.#rest.values()];
    this.#minute = minute;
    this.#own = 0;
    this.#alike.clear();
    this.#rest.clear();
    return rest;
  }

  /** @param given - its texts are of one request, and not of the others. */
  #wait(kind: string, { texts: _, ...line }: LoggedRequest): void {
    const known = this.#rest.get(kind);
    if (known !== undefined) {
      known.count++;
    } else if (this.#rest.size < mostKinds) {
      this.#rest.set(kind, { ...line, count: 1 });
    } else {
      this.#waitWithOthers(line);
    }
  }

  /** Of too many kinds, only what the clients got is told apart. These are few. */
  #waitWithOthers({
    account: _,
    keyId,
    plan,
    model,
    requestedModel,
    tags,
    callId,
    source,
    ...line
  }: LoggedRequest): void {
    const kind = kindOf(line);
    const known = this.#rest.get(kind);
    if (known !== undefined) known.count++;
    else this.#rest.set(kind, { ...line, count: 1 });
  }
}

function kindOf({ account, keyId, plan, model, tags, endpoint, status, errorCode }: LoggedRequest): string {
  return JSON.stringify([status, errorCode, endpoint, account, keyId, plan, model, tags]);
}
