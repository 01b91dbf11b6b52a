import type { AnswerContext } from "../openai/answer-context.js";
import type { AttemptFacts, ModelTraits, TargetTraits } from "./operation.js";

/** What OpenAI's protocol reads a response with. @param promptParam - the request's member that holds the prompt. */
export function toAnswerContext(
  { upstreamModel, dialect, secrets }: TargetTraits,
  { id }: ModelTraits,
  { requestId, callId, promptTokens, outputCap, admittedAt, startedAt }: AttemptFacts,
  promptParam: string,
): AnswerContext {
  const model = id;
  return {
    requestId,
    callId,
    model,
    upstreamModel,
    promptTokens,
    outputCap,
    promptParam,
    admittedAt,
    startedAt,
    dialect,
    secrets,
  };
}
