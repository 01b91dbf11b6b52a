import type { ReturnedTags } from "../metering/tags.js";
import type { IncomingCall } from "./incoming-call.js";

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
}

/** The host's hook before each call. */
// biome-ignore lint/suspicious/noConfusingVoidType: an async function may end without a value
export type OnRequest = (call: IncomingCall) => void | Admission | Promise<void | Admission>;
