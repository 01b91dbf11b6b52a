import type { AnswerGuards } from "../../answer-guards/answer-guards.js";
import type { Operation } from "../../operations/operation.js";
import type { CheckedCall } from "../checked-call.js";
import { AnswerReview, type ReviewedCall } from "./answer-review.js";

/** The review of a call's answer; `undefined` where the answer has no texts, or no guard is for the call. */
export function reviewOf(
  call: ReviewedCall & { readonly admission: CheckedCall },
  guards: AnswerGuards,
  { answers, name }: Operation,
): AnswerReview | undefined {
  if (answers === undefined) return undefined;
  const { requestId, caller, model, request, tags = {} } = call.admission;
  const { source, account, keyId, plan } = caller;
  const round = guards.select({
    requestId,
    source,
    account,
    ...(keyId === undefined ? undefined : { keyId }),
    plan,
    model: model.id,
    endpoint: name,
    stream: request.stream,
    tags,
  });
  return round && new AnswerReview(call, round, answers);
}
