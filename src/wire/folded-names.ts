/**
 * What is left of a name for servers that match names loosely, each in its own way: those in Go go by Unicode's simple case
 * folding, in which `ſ` is an s and the Kelvin sign a k; others take `maxTokens` and `max-tokens` for `max_tokens`. Two
 * names of the same remains are one to some server.
 */
export function foldName(name: string): string {
  return name.toUpperCase().toLowerCase().replace(unread, "");
}

/** The dot that stays of a Turkish İ is among them. */
const unread = /[_\-\u0307]/g;

/** Names that must be written as they are wherever they are meant. */
export class ExactNames {
  readonly #names: ReadonlySet<string>;
  readonly #byFolded: ReadonlyMap<string, string>;

  constructor(names: readonly string[]) {
    this.#names = new Set(names);
    this.#byFolded = new Map(names.map((name) => [foldName(name), name]));
  }

  /** The name that some server takes this one for, if it is not the very same. */
  meantBy(name: string): string | undefined {
    return this.#names.has(name) ? undefined : this.#byFolded.get(foldName(name));
  }
}

/** The first two of the names that are one to some server. */
export function findTwins(names: readonly string[]): readonly [string, string] | undefined {
  const seen = new Map<string, string>();
  for (const name of names) {
    const folded = foldName(name);
    const twin = seen.get(folded);
    if (twin !== undefined) return [twin, name];
    seen.set(folded, name);
  }
  return undefined;
}
