import type { CallerSource } from "../events/request-observer.js";
import type { OperationName } from "../prices/operation-name.js";
import type { ReturnedTags, Tags } from "../prices/tags.js";

/** A new text for one of the prompt's. */
export interface TextEdit {
  /** The path of one of {@link IncomingCall.texts}, each at most once. */
  readonly path: string;
  readonly text: string;
}

/** What the upstream gets of a call beside the client's request. */
export interface UpstreamAdditions {
  /**
   * Headers for the upstream, in place of those of the same name. Not those that carry credentials, describe the body or
   * belong to the connection.
   */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /**
   * Members of the upstream's request, as JSON values, in place of those of the same name. They are set after any
   * translation, so they are named as the target's own API names them. Not those that the gateway itself reads or bounds:
   * model, messages, input, system prompts, tools, stream, caps, stored responses.
   */
  readonly set?: Readonly<Record<string, unknown>> | undefined;
}

/** What `onRequest` answers to let a call through with changes. */
export interface Admission {
  /**
   * What to file the call under, for the journal, `accounts.usage` and `onRequestCompleted`. At most 16. Names have up to
   * 64 letters, digits, `_`, `.` and `-`; `day`, `model`, `key`, `funding` and what is taken for
   * them, such as `hour` and `keyId`, are reserved. Values have up to 256 characters.
   */
  readonly tags?: ReturnedTags | undefined;
  readonly upstream?: UpstreamAdditions | undefined;
  /** Texts to replace. Everything else of the request stays byte for byte. */
  readonly texts?: readonly TextEdit[] | undefined;
  /**
   * The model's targets that the call may use, in the order in which they are tried, such as `["azure-eu/gpt-5"]`: the name of
   * the provider, and the upstream's name for the model. Names of other models' targets are passed over. Default: all of them,
   * by their priorities and weights.
   */
  readonly targets?: readonly string[] | undefined;
}

/** The host's hook before each call. */
// biome-ignore lint/suspicious/noConfusingVoidType: an async function may end without a value
export type OnRequest = (call: IncomingCall) => void | Admission | Promise<void | Admission>;

/** A text of a prompt. */
export interface PromptText {
  /**
   * Where it stands in the request's JSON, such as `messages[0].content[1].text`, `instructions` or `input[3]`. A name
   * that is no identifier is quoted: `messages[1].content[0].input["a b"]`. Where no string stands there, the text is the
   * member's name.
   */
  readonly path: string;
  /**
   * The role of its message, as the client names it: `system`, `developer`, `user`, `assistant`, `tool`. Results of tools
   * are `tool`, whatever message holds them. System prompts, instructions, tools and unknown members are `system`.
   */
  readonly role: string;
  readonly text: string;
}

/** What every hook is told of a call. */
export interface HookedCall {
  /** The `x-request-id` of the response. */
  readonly requestId: string;
  /** How the caller is known. */
  readonly source: CallerSource;
  readonly account: string;
  /** The key's id; absent where no API key was sent. */
  readonly keyId?: string;
  readonly plan: string;
  /** The model's id in the catalog. */
  readonly model: string;
  /** What the client calls, which also tells its protocol: `messages` is Anthropic's, the others are OpenAI's. */
  readonly endpoint: OperationName;
  /** Whether the client asks for a stream. */
  readonly stream: boolean;
}

/** A call whose key, plan and model were checked. No credits are held for it, and no upstream has been called. */
export interface IncomingCall extends HookedCall {
  /** The alias that the client called the model by; absent when it was its id. */
  readonly requestedModel?: string;
  /** The tags of `gateway.as()`; absent where there are none. */
  readonly tags?: Tags;
  /** Aborted when the client leaves, and when `hookTimeoutMs` is over. Made when it is first read. */
  readonly signal: AbortSignal;
  /** A header's value; `undefined` when the request has none. A header that came twice is joined with `, `. */
  header(name: string): string | undefined;
  /**
   * Every text of the prompt in the client's own request, in its order: messages, system prompts, instructions, inputs,
   * arguments and results of tools, tools and schemas, thoughts that the gateway has signed, and all strings of members that
   * the gateway does not know. Ids, URLs, settings and encoded files are no texts, as long as they are words. What the request
   * refers to by `previous_response_id` or `item_reference` is not among them. Read from the body at the first call.
   * @throws GatewayError 400 for a prompt of more than 65,536 texts, or with a path of more than 1,000 characters. Let
   * the client have it.
   */
  texts(): readonly PromptText[];
}
