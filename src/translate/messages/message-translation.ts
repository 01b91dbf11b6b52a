import type { ThoughtSeal } from "../../seal/thought-seal.js";
import type { MessageToolNames } from "./message-tool-names.js";

/** What of a request for a message the translation of its answer goes by. */
export interface MessageTranslation {
  readonly toolNames: MessageToolNames;
  /** Those of the request: an upstream may say which one it stopped at. */
  readonly stopSequences: readonly string[];
  /** Whether the client gets to see thinking. `omitted`: only that there was some, and its signature. */
  readonly thinking: "shown" | "omitted" | "hidden";
  /** For the signatures of the target's thinking. */
  readonly thoughts: ThoughtSeal;
}

/** A message that is an answer. */
export interface MessageHead {
  /** `msg_…` */
  readonly messageId: string;
  /** The model as the client named it. */
  readonly model: string;
  /** The request's `anthropic-version`: newer ones have every member, `null` where there is nothing to say. */
  readonly version?: string | undefined;
}
