import type { AnswerContext } from "../model-api/answer/answer-context.js";
import type { Dialect } from "../model-api/dialect.js";
import type { UpstreamFailureContext } from "../model-api/failure/upstream-failure.js";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";
import { calledName } from "./called-name.js";
import type { AttemptFacts, ModelTraits, TargetTraits } from "./operation.js";

/** What OpenAI's protocol reads a response with. @param promptParam - the request's member that holds the prompt. */
export function toAnswerContext(
  target: TargetTraits,
  model: ModelTraits,
  attempt: AttemptFacts,
  promptParam: string,
): AnswerContext {
  return new AttemptContext(target, calledName(model), attempt, promptParam);
}

/** The same with more, for responses that are read with more than most. What `more` has counts. */
export function contextWith<More extends object>(answer: AnswerContext, more: More): AnswerContext & More {
  const { requestId, callId, model, upstreamModel, promptTokens, outputCap, promptParam } = answer;
  const { admittedAt, startedAt, dialect, secrets } = answer;
  return {
    ...{ requestId, callId, model, upstreamModel, promptTokens, outputCap, promptParam },
    ...{ admittedAt, startedAt, dialect, secrets, ...more },
  };
}

/** What an error response is read with. @param request - what the upstream was sent. */
export function toFailureContext(
  { model, upstreamModel, promptParam, startedAt, dialect, secrets }: AnswerContext,
  request: Uint8Array,
): UpstreamFailureContext {
  return { model, upstreamModel, promptParam, startedAt, dialect, secrets, request };
}

/** It copies nothing: most of it is read of few responses. */
class AttemptContext implements AnswerContext {
  readonly model: string;
  readonly promptParam: string;
  readonly #target: TargetTraits;
  readonly #attempt: AttemptFacts;

  constructor(target: TargetTraits, model: string, attempt: AttemptFacts, promptParam: string) {
    this.model = model;
    this.promptParam = promptParam;
    this.#target = target;
    this.#attempt = attempt;
  }

  get requestId(): string {
    return this.#attempt.requestId;
  }

  get callId(): string {
    return this.#attempt.callId;
  }

  get promptTokens(): number {
    return this.#attempt.promptTokens;
  }

  get outputCap(): number {
    return this.#attempt.outputCap;
  }

  get admittedAt(): number {
    return this.#attempt.admittedAt;
  }

  get startedAt(): number {
    return this.#attempt.startedAt;
  }

  get upstreamModel(): string {
    return this.#target.upstreamModel;
  }

  get dialect(): Dialect | undefined {
    return this.#target.dialect;
  }

  get secrets(): (() => UpstreamSecrets) | undefined {
    return this.#target.secrets;
  }
}
