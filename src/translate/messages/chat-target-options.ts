import type { ThoughtSeal } from "../../seal/thought-seal.js";

/** What is known of a target that speaks chat completions, for requests that are translated for it. */
export interface ChatTargetOptions {
  /** For the signatures of the target's thinking. */
  readonly thoughts: ThoughtSeal;
  /** The model can reason: an effort that the client asks for goes to it. Default: `false`. */
  readonly reasoning?: boolean | undefined;
}
