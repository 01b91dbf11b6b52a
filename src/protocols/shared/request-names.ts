import { type GatewayError, invalidValue } from "../../errors/gateway-error.js";
import { foldName, type MemberFault } from "../../wire/member-search.js";

/** Members that give a model tools, and choose between them. */
export const toolMembers = ["tools", "tool_choice", "parallel_tool_calls", "functions", "function_call"] as const;

export const reasoningMembers = ["reasoning_effort", "reasoning"] as const;

/**
 * What the gateway reads or edits of the conversations of every protocol: one is translated into another, so that none may
 * hold a member of another under a name that is nearly the same.
 */
export const conversationMembers = [
  "model",
  "messages",
  "input",
  "stream",
  "stream_options",
  "max_tokens",
  "max_completion_tokens",
  "n",
  ...toolMembers,
] as const;

/** The members of one operation's requests that the gateway reads or edits. A dialect may add names: see `ModelDialect`. */
export class RequestNames {
  /** Hosts' hooks must leave them alone, too. */
  readonly owned: readonly string[];
  readonly all: readonly string[];
  readonly #byFolded: ReadonlyMap<string, string>;

  /** @param open - those that hosts' hooks may set. */
  constructor({ owned, open = [] }: { owned: readonly string[]; open?: readonly string[] }) {
    this.owned = owned;
    this.all = [...owned, ...open];
    this.#byFolded = new Map(this.all.map((name) => [foldName(name), name]));
  }

  /** The member that some server takes this name for, if it is not the very same. @param folded - see `foldName`. */
  meantBy(name: string, folded: string): string | undefined {
    const meant = this.#byFolded.get(folded);
    return meant === name ? undefined : meant;
  }
}

/** Every member of `stream_options` that the gateway reads or edits. */
export const readStreamOptions = ["include_usage"] as const;

/** Every member of a message that the gateway reads or edits, apart from those that a dialect removes. */
export const readMessageMembers = ["role", "content"] as const;

/** Every member of a content part that shows its kind and its cost. */
export const readPartMembers = [
  "type",
  "text",
  "content",
  "image_url",
  "input_image",
  "input_audio",
  "audio_url",
  "video_url",
  "file",
] as const;

/**
 * A 400 for a member that some servers read as another one, or as a second one of the same name.
 * @param path - of the object that has the member; absent at the top level.
 */
export function misspelledName(name: string, meant: string, path?: string): GatewayError {
  const shown = name.slice(0, 200);
  return invalidValue(
    path === undefined ? shown : `${path}.${shown}`,
    `Some servers would take this member for '${meant}': spell it so, or leave it out.`,
  );
}

/** A 400 for an object in which readers would not find the same members. @param what - it is, with an article. */
export function faultyObject({ reason, name, meant }: MemberFault, path: string, what: string): GatewayError {
  if (reason === "too_many") return invalidValue(path, `${what} has too many members.`);
  if (reason === "twice") return invalidValue(`${path}.${meant}`, `'${meant}' appears twice.`);
  return misspelledName(name, meant, path);
}
