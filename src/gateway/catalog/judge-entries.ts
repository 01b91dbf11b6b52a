import type { StoredModel } from "../../models/model-store.js";
import type { ResolvedModel } from "./catalog-shape.js";
import { composeModels, type TermsById } from "./compose-models.js";
import { isTerms, readStoredModel, type StoredTerms } from "./stored-model-schema.js";

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
export interface Judging {
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
  const counting = new Map(termsOf(judged));
  const problemsWith = (some: readonly Candidate[]): readonly string[] => {
    const terms = new Map(counting);
    for (const { entry, terms: said } of some) terms.set(entry.id, said);
    return problemsOf(composeModels(models, terms));
  };
  let left = news;
  if (problemsWith(news).length > 0 && problemsWith([]).length > 0) {
    // What counted before does not fit any more, as when an entry is gone that stood before another: all begin anew.
    const fresh = new Map(news.map((each) => [each.entry.id, each]));
    left = [...judged].flatMap(([id, { entry, terms, problem }]) => {
      return fresh.get(id) ?? (terms === undefined ? [] : { entry, terms, problem });
    });
    counting.clear();
  }
  const add = (some: readonly Candidate[]): readonly Candidate[] => {
    const problems = some.length === 0 ? [] : problemsWith(some);
    if (problems.length === 0) {
      for (const each of some) {
        counting.set(each.entry.id, each.terms);
        judged.set(each.entry.id, each);
      }
      return [];
    }
    if (some.length > 1) {
      const half = Math.ceil(some.length / 2);
      return [...add(some.slice(0, half)), ...add(some.slice(half))];
    }
    for (const { entry } of some) {
      judged.set(entry.id, { entry, terms: counting.get(entry.id), problem: problems.join("; ") });
    }
    return some;
  };
  // One that gives a name up may come after the one that takes it.
  for (let tried = Number.POSITIVE_INFINITY; left.length > 0 && left.length < tried; ) {
    tried = left.length;
    left = add(left);
  }
}
