import type { PiecedBytes } from "../../wire/pieces/pieced-bytes.js";

/** A file of a form. Its bytes are slices of the client's. */
export interface FormFile {
  readonly name: string;
  readonly filename: string;
  readonly type: string | undefined;
  readonly content: PiecedBytes;
}

/** The files of a form, which only this holds: it lets go of them once nothing sends them any more. */
export class FormFiles {
  #all: readonly FormFile[];

  constructor(all: readonly FormFile[]) {
    this.#all = all;
  }

  get all(): readonly FormFile[] {
    return this.#all;
  }

  letGo(): void {
    this.#all = [];
  }
}
