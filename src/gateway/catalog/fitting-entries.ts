import { aliasProblem } from "./catalog-problems.js";
import type { ResolvedModel } from "./catalog-shape.js";
import type { TermsById } from "./compose-models.js";
import type { StoredTerms } from "./stored-model-schema.js";

/** So often entries that did not fit are tried again: others may have given their names up. What is left is tried at the next reading. */
const mostTries = 8;

/**
 * Finds which entries count together where several want the same name: those that counted before keep theirs, then the first
 * one has it. Takes time in proportion to the names, however many are contested: it runs while all else waits.
 */
export class FittingEntries {
  readonly #options: ReadonlyMap<string, ResolvedModel>;
  readonly #counting: TermsById;
  readonly #candidates: TermsById;
  readonly #ranks: ReadonlyMap<string, number>;
  /** Of the candidates, those that count. */
  readonly #accepted: Set<string>;
  /** Who has a name, or wants it. */
  readonly #owners = new Map<string, Set<string>>();

  /**
   * @param counting - what counts of the entries without the candidates. With the models of the options, no two have the same name.
   * @param candidates - in the order in which they get contested names.
   */
  constructor(options: readonly ResolvedModel[], counting: TermsById, candidates: TermsById) {
    this.#options = new Map(options.map((model) => [model.id, model]));
    this.#counting = counting;
    this.#candidates = candidates;
    this.#ranks = new Map([...candidates.keys()].map((id, rank) => [id, rank]));
    this.#accepted = new Set(candidates.keys());
    for (const id of new Set([...this.#options.keys(), ...counting.keys(), ...candidates.keys()])) {
      this.#claim(id, this.#modelOf(id, candidates.get(id) ?? counting.get(id)));
    }
  }

  /** @returns what is wrong with those that do not fit, by their ids; whoever is not there counts. */
  find(): ReadonlyMap<string, string> {
    const contested = [...this.#owners.keys()];
    for (const name of contested) contested.push(...this.#settle(name));
    let left = [...this.#candidates.keys()].filter((id) => !this.#accepted.has(id));
    for (let tries = 0; left.length > 0 && tries < mostTries; tries++) {
      const before = left.length;
      left = left.filter((id) => !this.#accept(id));
      if (left.length === before) break;
    }
    return new Map(left.map((id) => [id, this.#problem(id)?.text ?? ""]));
  }

  /** Leaves a name to one. @returns the names that those who give it up had before. */
  #settle(name: string): string[] {
    const owners = this.#owners.get(name) ?? new Set();
    if (owners.size < 2) return [];
    const rivals = [...owners]
      .filter((id) => this.#accepted.has(id))
      .sort((one, other) => this.#rank(one) - this.#rank(other));
    const losers = rivals.length < owners.size ? rivals : rivals.slice(1);
    return losers.flatMap((id) => {
      this.#accepted.delete(id);
      return this.#replace(id, this.#candidates.get(id), this.#counting.get(id));
    });
  }

  #accept(id: string): boolean {
    if (this.#problem(id) !== undefined) return false;
    this.#accepted.add(id);
    this.#replace(id, this.#counting.get(id), this.#candidates.get(id));
    return true;
  }

  /** Why a candidate that does not count cannot. */
  #problem(id: string): { readonly text: string } | undefined {
    for (const name of namesOf(this.#candidates.get(id)?.model)) {
      const owner = [...(this.#owners.get(name) ?? [])].find((other) => other !== id);
      if (owner === undefined) continue;
      return { text: name === id ? aliasProblem(owner, name, name) : aliasProblem(id, name, owner) };
    }
    return undefined;
  }

  /** @returns the names that it has now. */
  #replace(id: string, before: StoredTerms | undefined, after: StoredTerms | undefined): readonly string[] {
    for (const name of namesOf(this.#modelOf(id, before))) this.#owners.get(name)?.delete(id);
    return this.#claim(id, this.#modelOf(id, after));
  }

  #claim(id: string, model: ResolvedModel | undefined): readonly string[] {
    const names = namesOf(model);
    for (const name of names) {
      const owners = this.#owners.get(name);
      if (owners === undefined) this.#owners.set(name, new Set([id]));
      else owners.add(id);
    }
    return names;
  }

  #modelOf(id: string, terms: StoredTerms | undefined): ResolvedModel | undefined {
    return terms === undefined ? this.#options.get(id) : terms.model;
  }

  #rank(id: string): number {
    return this.#ranks.get(id) ?? -1;
  }
}

function namesOf(model: ResolvedModel | undefined): readonly string[] {
  return model === undefined ? [] : [model.id, ...(model.aliases ?? [])];
}
