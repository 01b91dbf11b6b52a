import { setTimeout as pause } from "node:timers/promises";
import type { Clock, Gateway, UpstreamProvider, UpstreamResponse, WritableKeyStore } from "infergate";
import { type Caller, makeCompany } from "./demo-company.js";

const hourMs = 3_600_000;
const dayMs = 24 * hourMs;
const days = 14;
const liveMs = 3 * 60_000;
const visitors = 4;

const questions = [
  "Summarize this thread in three sentences.",
  "Write a test for a function that parses dates.",
  "Which of these reviews are about delivery?",
  "Translate the release notes into German.",
  "Name the cities in this text, one a line.",
  "Why does this query not use its index?",
];

/** A request that goes through the gateway. */
interface Attempt {
  readonly key: string;
  readonly model: string;
  readonly stream: boolean;
}

/** Customers of the demo: two weeks of calls that are over at once, and then three minutes of them. */
export class DemoTraffic {
  #behindMs = days * dayMs;
  /** The demo's own account is left for whoever tries it. */
  #live: readonly Caller[] = [];
  readonly #ending = new AbortController();

  /** The real time, once the two weeks have passed. */
  readonly clock: Clock = { now: () => Date.now() - this.#behindMs };

  /** A model server that fails now and then, and takes its time at present. @param rate - of failures, from 0 to 1. */
  unsteady(model: UpstreamProvider, rate: number): UpstreamProvider {
    return {
      ...model,
      call: async (call) => {
        if (this.#behindMs === 0) await pause(100 + Math.random() ** 3 * 900, undefined, { signal: call.signal });
        return Math.random() < rate ? overloaded() : model.call(call);
      },
    };
  }

  /** What only the present says. */
  now<Event>(log: (event: Event) => void): (event: Event) => void {
    return (event) => {
      if (this.#behindMs === 0) log(event);
    };
  }

  /**
   * @param own - the key of the account that the demo signs in.
   * @param keys - the gateway's, which learn of their uses once a minute: too late for two weeks in seconds.
   */
  async liveTwoWeeks(gateway: Gateway, own: { key: string; account: string }, keys: WritableKeyStore): Promise<void> {
    const until = Date.now();
    const callers = await makeCompany(gateway, own);
    this.#live = callers.filter(({ account }) => account !== own.account);
    const calls = callers.flatMap((caller) => {
      const count = Math.round(caller.perDay * days * (0.7 + Math.random() / 2));
      // What the demo's own account has left of this session is for whoever tries it.
      const leastHours = caller.account === own.account ? 6 : 1;
      return Array.from({ length: count }, () => ({ caller, at: until - randomPast(leastHours * hourMs) }));
    });
    const lastUses = new Map<string, number>();
    for (const { caller, at } of calls.sort((one, other) => one.at - other.at)) {
      this.#behindMs = Math.max(1, Date.now() - at);
      const { url, ...init } = request("http://demo/v1", { ...attemptOf(caller), stream: false });
      await (await gateway.handler(new Request(url, init))).text();
      lastUses.set(caller.keyId, Math.floor(at));
    }
    await keys.touch?.([...lastUses].map(([id, at]) => ({ id, at })));
    await gateway.accounts.suspend("lighthouse", { message: "Your trial has ended." });
    this.#behindMs = 0;
  }

  /** Sends requests for three minutes: whole ones, streams that their clients leave, refusals. Resolves at its end. */
  async send(baseURL: string): Promise<void> {
    const until = performance.now() + liveMs;
    const { signal } = this.#ending;
    const visit = async (): Promise<void> => {
      while (performance.now() < until) {
        await pause(200 + Math.random() * 1_500, undefined, { signal });
        await this.#visit(baseURL, signal);
      }
    };
    await Promise.all(Array.from({ length: visitors }, visit)).catch((cause: unknown) => {
      if (!signal.aborted) throw cause;
    });
  }

  end(): void {
    this.#ending.abort();
  }

  async #visit(baseURL: string, ending: AbortSignal): Promise<void> {
    const attempt = this.#attempt();
    const leaving = AbortSignal.timeout(attempt.stream && Math.random() < 0.1 ? 500 : 30_000);
    const { url, ...init } = request(baseURL, attempt);
    try {
      await (await fetch(url, { ...init, signal: AbortSignal.any([ending, leaving]) })).text();
    } catch (cause) {
      if (!leaving.aborted) throw cause;
    }
  }

  #attempt(): Attempt {
    const caller = this.#someCaller();
    const chance = Math.random();
    if (chance < 0.03) return { ...attemptOf(caller), model: "acme/huge" };
    if (chance < 0.05) return { ...attemptOf(caller), key: "sk-of-last-year" };
    return attemptOf(caller);
  }
  #someCaller(): Caller {
    let left = Math.random() * this.#live.reduce((sum, { perDay }) => sum + perDay, 0);
    for (const caller of this.#live) {
      left -= caller.perDay;
      if (left < 0) return caller;
    }
    throw new Error("Nobody calls.");
  }
}

/** Milliseconds ago, within the two weeks: more by day than at night, and more on weekdays. */
function randomPast(leastMs: number): number {
  for (;;) {
    const ago = leastMs + Math.random() * (days * dayMs - leastMs);
    const at = new Date(Date.now() - ago);
    const isWeekend = [0, 6].includes(at.getDay());
    const isNight = at.getHours() < 7 || at.getHours() > 20;
    if (Math.random() < (isWeekend ? 0.3 : 1) * (isNight ? 0.15 : 1)) return ago;
  }
}

function attemptOf({ key, models }: Caller): Attempt {
  const model = models[Math.random() < 0.6 ? 0 : models.length - 1] ?? "";
  return { key, model, stream: Math.random() < 0.6 };
}

function request(baseURL: string, { key, model, stream }: Attempt) {
  const content = questions[Math.floor(Math.random() * questions.length)];
  return {
    url: `${baseURL}/chat/completions`,
    method: "POST",
    headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
    body: JSON.stringify({ model, stream, messages: [{ role: "user", content }] }),
  };
}

function overloaded(): UpstreamResponse {
  const error = { message: "The demo's model server is overloaded.", type: "server_error", code: null };
  return { status: 503, headers: { "content-type": "application/json" }, body: once(JSON.stringify({ error })) };
}

async function* once(text: string): AsyncGenerator<Uint8Array> {
  yield Buffer.from(text);
}
