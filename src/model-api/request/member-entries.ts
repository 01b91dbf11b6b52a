import { foldName } from "../../wire/folded-names.js";
import type { JsonMember } from "../../wire/json-members.js";
import { type JsonRequest, usualNames } from "./json-request.js";
import type { MemberRule } from "./restricted-members.js";

/** The rule of one member of a request. */
export interface MemberEntry {
  readonly name: string;
  readonly rule: MemberRule;
  readonly why: string;
  readonly advice: string;
  /** Returns the path of what the rule forbids; `undefined` when the value is allowed. */
  readonly find: (request: JsonRequest, member: JsonMember) => string | undefined;
}

/** Rules by the names of members. Of several for one name, the last one counts. */
export class MemberEntries {
  /** By the folded names. */
  readonly #folded = new Map<string, MemberEntry>();
  /** By the exact names, and by the common names with the same folded form. */
  readonly #exact = new Map<string, MemberEntry>();

  get isEmpty(): boolean {
    return this.#folded.size === 0;
  }

  /** The rule of a member as it is written. */
  of(name: string): MemberEntry | undefined {
    return this.#exact.get(name);
  }

  /** The rule that a server goes by which matches names loosely. @param folded - see `foldName`. */
  ofFolded(folded: string): MemberEntry | undefined {
    return this.#folded.get(folded);
  }

  /** Whether there is a rule for the name, or for one that some server takes it for. */
  isSet(name: string): boolean {
    return this.#folded.has(foldName(name));
  }

  set(entry: MemberEntry): void {
    const { name } = entry;
    const folded = foldName(name);
    const former = this.#folded.get(folded);
    if (former !== undefined) this.#exact.delete(former.name);
    this.#folded.set(folded, entry);
    this.#exact.set(usualNames.get(folded) ?? name, entry).set(name, entry);
  }
}
