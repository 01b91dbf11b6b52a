import type { StoredModel } from "../../models/model-store.js";
import type { ResolvedModel } from "./catalog-shape.js";
import { composeModels, type TermsById } from "./compose-models.js";
import { FittingEntries } from "./fitting-entries.js";
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
