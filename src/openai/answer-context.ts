import type { UpstreamSecrets } from "../redaction/upstream-secrets.js";
import type { Dialect } from "./dialect.js";

/** What is known of an attempt when its response comes. */
export interface AnswerContext {
  readonly requestId: string;
  /** The model as the client named it. */
  readonly model: string;
  /** The upstream's name for it. */
  readonly upstreamModel: string;
  /** What the prompt counts when the upstream does not say. */
  readonly promptTokens: number;
  /** The request's member that holds the prompt: `messages` of a chat completion, `input` of embeddings. */
  readonly promptParam: string;
  /** When the request was admitted, in epoch milliseconds: for responses without a date of their own. */
  readonly admittedAt: number;
  /** When the attempt began, in epoch milliseconds: to read a `Retry-After` date. */
  readonly startedAt: number;
  /** The server's. */
  readonly dialect: Dialect | undefined;
  /** What must not get out of what the upstream says; read when there is an error. */
  readonly secrets: (() => UpstreamSecrets) | undefined;
}
