import { upstreamTimeout } from "../errors/gateway-error.js";
import { noTokens } from "../metering/token-counts.js";
import type { Outcome } from "../routing/outcome.js";
import type { Target } from "../routing/target.js";
import { AbortNotifier } from "./abort-notifier.js";
import type { Charge } from "./settle.js";

type Finish = (outcome: Outcome) => Charge | Promise<Charge>;

const noCharge: Charge = { micro: 0, tokens: noTokens, source: undefined, windows: undefined };

/** One of several attempts: as long as it has nothing for the client, its failure is not the call's. */
export class Attempt {
  /** For the upstream: the call's own, and this attempt's time-out. */
  readonly notice: AbortNotifier;
  readonly #call: AbortNotifier;
  readonly #timeoutMs: number | undefined;
  #state: "waiting" | "committed" | "over" = "waiting";

  constructor(call: AbortNotifier, { timeoutMs }: Pick<Target, "timeoutMs">) {
    this.#call = call;
    this.#timeoutMs = timeoutMs;
    this.notice = timeoutMs === undefined ? call : new AbortNotifier();
  }

  /**
   * Waits for what there is for the client, for the target's `timeoutMs` at most, even of a provider that does not heed
   * its signal.
   * @throws GatewayError 504
   */
  async run<Answer>(work: () => Promise<Answer>): Promise<Answer> {
    const timeoutMs = this.#timeoutMs;
    const answer = timeoutMs === undefined ? await work() : await this.#within(timeoutMs, work);
    this.#state = "committed";
    return answer;
  }

  /** How the call ends through this attempt: not at all by a failure that the client does not get to see. */
  ending(finish: Finish): Finish {
    return (outcome) => {
      const isHidden = this.#state === "waiting" && outcome.error !== undefined;
      return isHidden || this.#state === "over" ? noCharge : finish(outcome);
    };
  }

  #within<Answer>(timeoutMs: number, work: () => Promise<Answer>): Promise<Answer> {
    const { notice } = this;
    const abort = (): void => notice.abort();
    this.#call.addEventListener("abort", abort);
    if (this.#call.aborted) abort();
    return new Promise<Answer>((resolve, reject) => {
      const timer = setTimeout(() => {
        this.#state = "over";
        this.#call.removeEventListener("abort", abort);
        reject(upstreamTimeout(new Error(`The target had nothing for the client within its ${timeoutMs} ms.`)));
        notice.abort();
      }, timeoutMs);
      // The client's connection keeps the process alive as long as need be.
      if (typeof timer === "object") timer.unref?.();
      work()
        .finally(() => clearTimeout(timer))
        .then(resolve, reject);
    });
  }
}
