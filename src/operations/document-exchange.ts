import type { ModelAnswer } from "../metering/model-answer.js";
import type { OperationName } from "../metering/operation-name.js";
import type { TokenCounts } from "../metering/token-counts.js";
import type { AnswerContext } from "../model-api/answer/answer-context.js";
import type { ReceivedAnswer } from "../model-api/answer/received-answer.js";
import { readErrorBody } from "../model-api/failure/read-error-body.js";
import { readWhole, refuseWhole, type WholeReader } from "../openai/read-whole.js";
import { toFailureContext } from "./answer-context.js";
import type { Exchange } from "./operation.js";

/** An exchange whose response is one document without texts of a model, and comes in no stream. */
export abstract class DocumentExchange implements Exchange, WholeReader {
  abstract readonly operation: OperationName;
  /** What looks like a long text may be a vector, or a client's own document. */
  readonly readsLongTexts = true;
  readonly body: Uint8Array;
  protected readonly context: AnswerContext;

  /** @param body - what the upstream is sent. */
  constructor(body: Uint8Array, context: AnswerContext) {
    this.body = body;
    this.context = context;
  }

  abstract read(received: ReceivedAnswer): ModelAnswer | undefined;

  readWhole(bytes: Uint8Array): ModelAnswer | Promise<ModelAnswer> {
    return readWhole(bytes, this);
  }

  refuse(received: ReceivedAnswer): never {
    return refuseWhole(received, this.context);
  }

  partialTokens(): TokenCounts {
    return { input: this.context.promptTokens, cachedInput: 0, output: 0, reasoning: 0 };
  }

  readStream(): never {
    throw new TypeError(`A response of ${this.operation} is not streamed.`);
  }

  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array) {
    return readErrorBody(status, headers, body, toFailureContext(this.context, this.body));
  }
}
