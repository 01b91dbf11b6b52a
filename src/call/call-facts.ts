import type { Clock } from "../ledger/clock.js";
import type { AttemptFacts, Demand } from "../operations/operation.js";
import type { CheckedCall } from "./checked-call.js";

/** What a response of a call is written with. The prompt is counted when it is asked for. */
export class CallFacts implements AttemptFacts {
  readonly requestId: string;
  readonly callId: string;
  readonly addedCap: number | undefined;
  readonly outputCap: number;
  readonly admittedAt: number;
  readonly startedAt: number;
  readonly clock: Clock;
  readonly #demand: Demand;

  constructor({ requestId, callId, demand, admittedAt }: CheckedCall, clock: Clock) {
    this.requestId = requestId;
    this.callId = callId;
    this.addedCap = demand.addedCap;
    this.outputCap = demand.outputTokens;
    this.admittedAt = admittedAt;
    this.startedAt = clock.now();
    this.clock = clock;
    this.#demand = demand;
  }

  get promptTokens(): number {
    return this.#demand.promptTokens;
  }
}
