import type { ThoughtSeal } from "../../seal/payload-seal.js";

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

/** Servers of chat completions take no longer name of a function. */
const longestName = 64;

/** Names of tools that are too long for chat completions, shortened, and the way back. The same name is always shortened alike. */
export class MessageToolNames {
  readonly #own = new Map<string, string>();

  /** The name for the upstream. */
  toChat(name: string): string {
    if (name.length <= longestName) return name;
    const hash = hashOf(name);
    const short = `${name.slice(0, longestName - hash.length - 1)}_${hash}`;
    this.#own.set(short, name);
    return short;
  }

  /** The client's name. */
  fromChat(name: string): string {
    return this.#own.get(name) ?? name;
  }
}

/** FNV-1a, twice: 64 bits, so that no two tools of a request are one. */
function hashOf(text: string): string {
  return [0x811c9dc5, 0x050c5d1f]
    .map((seed) => {
      let hash = seed;
      for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
      return (hash >>> 0).toString(16).padStart(8, "0");
    })
    .join("");
}
