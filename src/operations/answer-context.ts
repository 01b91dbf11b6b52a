import type { AnswerContext } from "../openai/answer-context.js";
import type { Dialect } from "../openai/dialect.js";
import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";
import type { AttemptFacts, ModelTraits, TargetTraits } from "./operation.js";

/** What OpenAI's protocol reads a response with. @param promptParam - the request's member that holds the prompt. */
export function toAnswerContext(
  target: TargetTraits,
  { id }: ModelTraits,
  attempt: AttemptFacts,
  promptParam: string,
): AnswerContext {
  return new AttemptContext(target, id, attempt, promptParam);
}

/** The prompt is counted where the upstream does not say how long it was. */
class AttemptContext implements AnswerContext {
  readonly requestId: string;
  readonly callId: string;
  readonly model: string;
  readonly upstreamModel: string;
  readonly outputCap: number;
  readonly promptParam: string;
  readonly admittedAt: number;
  readonly startedAt: number;
  readonly dialect: Dialect | undefined;
  readonly secrets: (() => UpstreamSecrets) | undefined;
  readonly #attempt: AttemptFacts;

  constructor({ upstreamModel, dialect, secrets }: TargetTraits, model: string, attempt: AttemptFacts, param: string) {
    this.requestId = attempt.requestId;
    this.callId = attempt.callId;
    this.model = model;
    this.upstreamModel = upstreamModel;
    this.outputCap = attempt.outputCap;
    this.promptParam = param;
    this.admittedAt = attempt.admittedAt;
    this.startedAt = attempt.startedAt;
    this.dialect = dialect;
    this.secrets = secrets;
    this.#attempt = attempt;
  }

  get promptTokens(): number {
    return this.#attempt.promptTokens;
  }
}
