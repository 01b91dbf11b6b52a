import type { MemberEdits } from "../../wire/json-members.js";

type Edit = string | Uint8Array | null;

/** New values of a response's members, by their names. Most responses get one alone, for which no map is made. */
export class AnswerEdits {
  #name = "";
  #edit: Edit | undefined;
  #all: MemberEdits | undefined;

  get size(): number {
    return this.#all?.size ?? (this.#edit === undefined ? 0 : 1);
  }

  get(name: string): Edit | undefined {
    if (this.#all !== undefined) return this.#all.get(name);
    return name === this.#name ? this.#edit : undefined;
  }

  set(name: string, edit: Edit): void {
    if (this.#edit === undefined) {
      this.#name = name;
      this.#edit = edit;
    } else {
      this.#all ??= new Map([[this.#name, this.#edit]]);
      this.#all.set(name, edit);
    }
  }

  /** In the order in which they were set. */
  toMap(): MemberEdits {
    return this.#all ?? new Map(this.#edit === undefined ? [] : [[this.#name, this.#edit]]);
  }
}
