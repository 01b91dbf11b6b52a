/** What is known of a target that speaks chat completions, for requests that are translated for it. */
export interface ChatTargetOptions {
  /** An opaque mark of the target, for the signatures of its thinking. It must tell nothing of the upstream. */
  readonly origin: string;
  /** The model can reason: an effort that the client asks for goes to it. Default: `false`. */
  readonly reasoning?: boolean | undefined;
}
