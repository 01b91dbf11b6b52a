import type { Exchange } from "../../operations/operation.js";
import type { DirectAnswer } from "../../providers/direct-call.js";
import type { Attempt } from "../attempt.js";

/** A target's 200 whose body is not read yet. */
export interface TargetResponse {
  readonly attempt: Attempt;
  readonly exchange: Exchange;
  readonly answer: DirectAnswer;
}
