import type { TokenCounts } from "../../metering/token-counts.js";
import type { ModelAnswer } from "../../openai/model-answer.js";
import type { ModelEndpoint } from "../../operations/model-endpoint.js";
import type { Progress } from "../meter.js";

/** What has come of a whole answer. Its client has nothing of it before its end. */
export class WholeProgress implements Progress {
  /** Bytes. */
  received = 0;
  answer: ModelAnswer | undefined;
  readonly isCounted = false;
  readonly hasOutput = false;
  readonly reasons = false;
  readonly #endpoint: ModelEndpoint;
  readonly #promptTokens: number;

  constructor(endpoint: ModelEndpoint, promptTokens: number) {
    this.#endpoint = endpoint;
    this.#promptTokens = promptTokens;
  }

  get tokens(): TokenCounts {
    return this.answer?.tokens ?? this.#endpoint.partialTokens(this.#promptTokens, this.received);
  }

  get estimated(): boolean {
    return this.answer?.estimated ?? true;
  }
}
