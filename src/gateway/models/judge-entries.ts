import type { StoredModel } from "../../records/models/model-store.js";
import { aliasProblem } from "./catalog-problems.js";
import type { ResolvedModel } from "./model-schema.js";
import { composeModels, isTerms, readStoredModel, type StoredTerms, type TermsById } from "./stored-model.js";

/** An entry of the store, and what of it counts in this process. */
export interface JudgedEntry {
  readonly entry: StoredModel;
  /** What counts: what it says, or where that is not valid, what it said before; `undefined`: nothing. */
  readonly terms: StoredTerms | undefined;
  /** Why it does not count as it is. */
  readonly problem: string | undefined;
}

export type JudgedEntries = ReadonlyMap<string, JudgedEntry>;

/** What entries are judged by. */
interface Judging {
  /** Of the options. */
  readonly models: readonly ResolvedModel[];
  readonly before: JudgedEntries;
  /** What is wrong with models together, one sentence each. */
  problemsOf(models: readonly ResolvedModel[]): readonly string[];
  /** What is wrong with a model that stands alone. */
  problemsOfOne(model: ResolvedModel): readonly string[];
}

/** Judges all entries of the store: each that fits to the others counts, and the others leave their models as they were. */
export function judgeEntries(entries: Iterable<StoredModel>, judging: Judging): JudgedEntries {
  const { before } = judging;
  const judged = new Map<string, JudgedEntry>();
  const news: Candidate[] = [];
  for (const entry of entries) {
    const earlier = before.get(entry.id);
    if (earlier !== undefined && earlier.problem === undefined && earlier.entry.version === entry.version) {
      judged.set(entry.id, earlier);
      continue;
    }
    const read = readEntry(entry, judging);
    if (isTerms(read)) news.push({ entry, terms: read, problem: undefined });
    judged.set(entry.id, { entry, terms: earlier?.terms, problem: isTerms(read) ? "" : read.join("; ") });
  }
  const isSame = judged.size === before.size && [...judged].every(([id, each]) => before.get(id) === each);
  if (isSame) return before;
  settle(judged, news, judging);
  return judged;
}

/** What counts of judged entries. */
export function termsOf(judged: JudgedEntries): TermsById {
  return new Map([...judged].flatMap(([id, { terms }]) => (terms === undefined ? [] : [[id, terms] as const])));
}

function readEntry({ model, problem }: StoredModel, { problemsOfOne }: Judging): StoredTerms | readonly string[] {
  if (model === undefined) return [problem ?? "cannot be read"];
  const read = readStoredModel(model);
  if (!isTerms(read) || read.model === undefined) return read;
  const problems = problemsOfOne(read.model);
  return problems.length === 0 ? read : problems;
}

/** What may count, if it fits. */
interface Candidate extends JudgedEntry {
  readonly terms: StoredTerms;
}

/** Lets those count that fit: all at once, or where they do not, as many as fit beside what counted before. */
function settle(judged: Map<string, JudgedEntry>, news: readonly Candidate[], { models, problemsOf }: Judging): void {
  let counting = termsOf(judged);
  let candidates = news;
  const fits = (some: readonly Candidate[]): boolean =>
    problemsOf(composeModels(models, new Map([...counting, ...toTerms(some)]))).length === 0;
  const take = (some: readonly Candidate[]) => {
    for (const each of some) judged.set(each.entry.id, each);
  };
  if (fits(news)) {
    take(news);
    return;
  }
  if (!fits([])) {
    // What counted before does not fit any more, as when an entry is gone that stood before another: all begin anew.
    const fresh = new Map(news.map((each) => [each.entry.id, each]));
    candidates = [...judged].flatMap(([id, { entry, terms, problem }]) => {
      return fresh.get(id) ?? (terms === undefined ? [] : { entry, terms, problem });
    });
    counting = new Map();
  }
  const problems = new FittingEntries(models, counting, toTerms(candidates)).find();
  take(candidates.filter(({ entry }) => !problems.has(entry.id)));
  for (const [id, problem] of problems) {
    const entry = judged.get(id)?.entry;
    if (entry !== undefined) judged.set(id, { entry, terms: counting.get(id), problem });
  }
}

function toTerms(candidates: readonly Candidate[]): TermsById {
  return new Map(candidates.map(({ entry, terms }) => [entry.id, terms]));
}

/** So often entries that did not fit are tried again: others may have given their names up. What is left is tried at the next reading. */
const mostTries = 8;

/**
 * Finds which entries count together where several want the same name: those that counted before keep theirs, then the first
 * one has it. Takes time in proportion to the names, however many are contested: it runs while all else waits.
 */
class FittingEntries {
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
