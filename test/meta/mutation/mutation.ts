/** A line of a store broken on purpose: some test must fail of it. */
export interface Mutation {
  readonly name: string;
  /** Occurs once in the store's source. */
  readonly find: string;
  readonly replace: string;
  /** The part of the source to look in, where the same is written in several. */
  readonly part?: string;
  /** Where a test fails of it. Default: the store's usual ones. */
  readonly test?: string | readonly string[];
}
