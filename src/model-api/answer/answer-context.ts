import type { UpstreamSecrets } from "../../redaction/upstream-secrets.js";
import type { Dialect } from "../dialect.js";

/** What is known of an attempt when its response arrives. */
export interface AnswerContext {
  readonly requestId: string;
  /** Unique: what the ids of responses are made of. */
  readonly callId: string;
  /** The model as the client named it. */
  readonly model: string;
  /** The upstream's name for it. */
  readonly upstreamModel: string;
  /** The tokens of the prompt where the upstream reports no usage. */
  readonly promptTokens: number;
  /** The most output tokens that the request and the model allow. */
  readonly outputCap: number;
  /** The request's member that holds the prompt: `messages` of a chat completion, `input` of embeddings. */
  readonly promptParam: string;
  /** When the request was admitted, in epoch milliseconds: for responses without a date of their own. */
  readonly admittedAt: number;
  /** When the attempt began, in epoch milliseconds: to read a `Retry-After` date. */
  readonly startedAt: number;
  /** The dialect of the target's server. */
  readonly dialect: Dialect | undefined;
  /** Texts that must not appear in error messages for clients; read when there is an error. */
  readonly secrets: (() => UpstreamSecrets) | undefined;
}

/** What is unique in the id of a call: the same for all attempts of a request. */
export function bareCallId({ callId }: Pick<AnswerContext, "callId">): string {
  return callId.slice(callId.indexOf("_") + 1);
}

/** The id of a response that the gateway makes or keeps. */
export function ownId(prefix: "msg" | "resp", call: Pick<AnswerContext, "callId">): string {
  return `${prefix}_${bareCallId(call).replaceAll("-", "")}`;
}
