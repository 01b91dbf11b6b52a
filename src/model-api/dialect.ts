import { isRecord } from "../wire/is-record.js";
import type { MemberRule } from "./request/restricted-members.js";

/**
 * How a server departs from OpenAI's API, as plain data. Request members that it does not know are renamed or removed.
 * Its own forms of responses are converted. Every member is optional; absent means: as OpenAI does.
 */
export interface Dialect {
  /**
   * The only name under which the server accepts the output cap. A cap of the other name is renamed, so that it takes
   * effect. Of two caps the smaller one is sent. Default: both are sent unchanged.
   */
  capName?: "max_tokens" | "max_completion_tokens" | undefined;
  /** The role that replaces `developer`. Default: `developer`. */
  developerRole?: "system" | "user" | undefined;
  /**
   * The role that messages of the roles `system` and `developer` get where they are not the first message. Some chat
   * templates refuse them there, and coding agents send them. Default: as any other.
   */
  laterSystemRole?: "user" | undefined;
  /**
   * New names of request members, by OpenAI's names. If the request has a member of the new name already, that one is
   * kept.
   */
  renamed?: Readonly<Record<string, string>> | undefined;
  /** Request members to remove, since the server refuses them. Not `model`, `messages`, `input` or `stream`. */
  dropped?: readonly string[] | undefined;
  /**
   * Whether to refuse or remove request members by which a client would choose another model, price or cap. The table
   * of `docs/restricted-members.md` lists them. The presets have it on. Default: `false`, so that unknown members reach
   * an unknown server.
   */
  strictMembers?: boolean | undefined;
  /**
   * What happens to restricted members, by name. `refuse`: a 400 with its `param`. `drop`: removed. `pass`: sent. It
   * overrides {@link strictMembers} name by name, and may add names. `tools` means tools that the server itself runs;
   * they cannot be dropped.
   */
  restricted?: Readonly<Record<string, MemberRule>> | undefined;
  /** Members of messages to remove, since the server refuses them. Not `role` or `content`. */
  droppedFromMessages?: readonly string[] | undefined;
  /**
   * Whether the `usage` of a response with several choices counts one of them alone: in a stream, each its own; in a whole
   * response, the first. Streams are charged by the sum. In whole responses, the other choices, and the prompts behind the
   * first one, are estimated. Default: `false`.
   */
  usagePerChoice?: boolean | undefined;
  /**
   * What a missing `finish_reason` is, whole and streamed. `optional`: nothing; the end of a whole response, or `[DONE]`, is
   * the end of what has begun. `required`: the response was cut off. Default: nothing in a whole response, which comes with
   * its own end; in a stream, it was cut off.
   */
  finishReason?: "optional" | "required" | undefined;
  /** Members of `usage` that clients must not get, such as what the server bills you. */
  hiddenUsage?: readonly string[] | undefined;
  /**
   * In which form the server gives images: what it is sent as `response_format`, whatever the client says. A client that asks
   * for the other form gets a 400. `none`: it knows no `response_format`, and gives base64. Default: what the client says; but
   * `none` for models whose names begin with `gpt-image-` or `chatgpt-image-`, which refuse that member.
   */
  imageFormat?: "b64_json" | "url" | "none" | undefined;
  /**
   * The formats of transcripts that the server knows beside `json`. Where minutes are priced, it is asked for `verbose_json`,
   * which says how long the audio was, and clients get what they asked for, made of it. A client that wants what cannot be made
   * gets the server's own, which is charged by an estimate. Default: all; of models such as `gpt-4o-transcribe`, `json` alone.
   */
  transcriptFormats?: readonly string[] | undefined;
  /** The format in which the server says how long the audio was. Default: `verbose_json`. */
  timedTranscripts?: "json" | "verbose_json" | undefined;
  /** Fields that a request for a transcript's stream gets, such as vLLM's `{ stream_include_usage: "true" }`. Default: none. */
  transcriptStream?: { readonly fields: Readonly<Record<string, string>> } | undefined;
  /**
   * Whether the server sends speech as events, too, which have its usage. Models that are priced by tokens are asked for them.
   * Default: `false`.
   */
  speechEvents?: boolean | undefined;
  /**
   * How the server speaks of reranking. `cohere`: documents are texts. `jina`: they may be objects, too. `voyage`: as `cohere`,
   * with `top_k` and `data` for `top_n` and `results`. `tei`: `texts`, answered by a bare list. Default: `cohere`, which vLLM,
   * llama.cpp, Infinity and others read.
   */
  rerank?: "cohere" | "jina" | "voyage" | "tei" | undefined;
  /**
   * The header of the API key. Any other than `authorization` contains the key alone, without `Bearer`. Default:
   * `authorization`.
   */
  keyHeader?: string | undefined;
  /** Calls go to `/deployments/{model}/…` below the base URL. Default: `false`. */
  deploymentPaths?: boolean | undefined;
  /**
   * Converts an error to OpenAI's format. It gets an error response, or an error in a stream, and may correct the
   * status. Default: unchanged.
   */
  readError?: ((error: UpstreamErrorAnswer, request: FailedRequest) => UpstreamErrorAnswer) | undefined;
}

/** An error as the server sent it. */
export interface UpstreamErrorAnswer {
  /** The HTTP status. For an error inside a 200: the status that fits best. */
  status: number;
  /** The parsed body. OpenAI's is `{ error: { message, type, param, code } }`. `undefined` when it is not JSON. */
  body: unknown;
}

/** The request that failed. */
export interface FailedRequest {
  /** The member that holds the prompt: `messages` of a chat completion, `input` of embeddings. */
  promptParam: string;
}

/**
 * The server's error in OpenAI's format. If the dialect's function throws or returns no such error, the error stays as
 * it is.
 */
export function readErrorAnswer(
  dialect: Dialect | undefined,
  error: UpstreamErrorAnswer,
  { promptParam }: FailedRequest,
): UpstreamErrorAnswer {
  if (dialect?.readError === undefined) return error;
  try {
    const read: unknown = dialect.readError(error, { promptParam });
    return isErrorAnswer(read) ? read : error;
  } catch {
    return error;
  }
}

function isErrorAnswer(value: unknown): value is UpstreamErrorAnswer {
  return isRecord(value) && Number.isInteger(value["status"]);
}
