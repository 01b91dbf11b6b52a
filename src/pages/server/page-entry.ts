/** One page: names in {@link PageFiles.files}. */
export interface PageEntry {
  /** Its module, which the document loads. */
  readonly script: string;
  /** What it imports, and what that imports. */
  readonly preloads: readonly string[];
  /** What is loaded when a view is opened that needs it. */
  readonly later: readonly string[];
}

/** What browsers load of the pages, built of `src/pages/app`. */
export interface PageFiles {
  /** Each file by a name with a hash of its text: compressed by gzip, in base64. */
  readonly files: Readonly<Record<string, string>>;
  readonly style: string;
  readonly account: PageEntry;
  readonly operator: PageEntry;
}
