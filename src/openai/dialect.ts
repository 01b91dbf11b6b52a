import { isRecord } from "../wire/is-record.js";
import type { MemberRule } from "./request/restricted-members.js";

/**
 * How a server departs from OpenAI's API, as plain data: what it does not know is renamed or left out of
 * requests, and what it says in a way of its own is read. Every member is optional; absent means as OpenAI does.
 */
export interface Dialect {
  /**
   * The only name under which the server knows the cap of an answer; a cap of the other name is renamed, so that it is
   * kept to. Of two caps the smaller one goes. Default: both go as they were sent.
   */
  capName?: "max_tokens" | "max_completion_tokens" | undefined;
  /** The role that messages of the role `developer` get. Default: `developer`. */
  developerRole?: "system" | "user" | undefined;
  /**
   * The role that messages of the roles `system` and `developer` get where they are not the first message. Some chat
   * templates refuse them there, and coding agents send them. Default: as any other.
   */
  laterSystemRole?: "user" | undefined;
  /** New names of request members, by OpenAI's names; a member that is there under the new name already stays. */
  renamed?: Readonly<Record<string, string>> | undefined;
  /** Request members that the server refuses: they are left out. Not `model`, `messages`, `input` or `stream`. */
  dropped?: readonly string[] | undefined;
  /**
   * Whether request members by which a client would choose another model, price or cap than the catalog's are refused or left
   * out, by the table of `docs/restricted-members.md`. The presets have it on. Default: `false`, so that members of
   * which the gateway knows nothing reach a server of which it knows nothing.
   */
  strictMembers?: boolean | undefined;
  /**
   * What becomes of such members, by name: `refuse` is a 400 with its `param`, `drop` leaves them out, `pass` lets them
   * through. It replaces, name by name, what {@link strictMembers} does, and adds to it. `tools` stands for tools that the
   * server runs itself, and cannot be dropped.
   */
  restricted?: Readonly<Record<string, MemberRule>> | undefined;
  /** Members of messages that the server refuses: they are left out. Not `role` or `content`. */
  droppedFromMessages?: readonly string[] | undefined;
  /** Members of `usage` that are between the server and you, such as what it bills you: clients do not get them. */
  hiddenUsage?: readonly string[] | undefined;
  /** The header of the key; any but `authorization` gets it bare, without `Bearer`. Default: `authorization`. */
  keyHeader?: string | undefined;
  /** Calls go to `/deployments/{model}/…` below the base URL. Default: `false`. */
  deploymentPaths?: boolean | undefined;
  /**
   * Puts an error into OpenAI's words: called with what the server answered, or sent in a stream, and free to correct the
   * status. Default: as it came.
   */
  readError?: ((error: UpstreamErrorAnswer, request: FailedRequest) => UpstreamErrorAnswer) | undefined;
}

/** An error as the server told it. */
export interface UpstreamErrorAnswer {
  /** The HTTP status; for an error inside a 200 the one that fits it best. */
  status: number;
  /** The parsed body, OpenAI's being `{ error: { message, type, param, code } }`; `undefined` when it was no JSON. */
  body: unknown;
}

/** What an error was the answer to. */
export interface FailedRequest {
  /** The member that holds the prompt: `messages` of a chat completion, `input` of embeddings. */
  promptParam: string;
}

/** What a server says in a way of its own, in OpenAI's words. A function that throws, or gives no such answer, leaves it as it was. */
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
