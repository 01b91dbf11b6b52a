import type { Exchange } from "../../operations/operation.js";
import type { DirectAnswer } from "../../providers/direct-call.js";
import type { Attempt } from "../attempt.js";

/** A target's 200, whose body is still to be read. */
export interface TargetResponse {
  readonly attempt: Attempt;
  readonly exchange: Exchange;
  readonly answer: DirectAnswer;
}
