import { toAllowance } from "../../access/allowance.js";
import type { ResolveCaller } from "../../access/caller-resolver.js";
import { warnOfUnmatched } from "../../access/warn-of-unmatched.js";
import type { Warn } from "../../events/warning.js";
import type { TimeLimit } from "../../ledger/guard/time-limit.js";
import type { ModelStore, StoredModel } from "../../records/models/model-store.js";
import type { PlanStore } from "../../records/plans/plan-store.js";
import { ChangeWatch } from "../change-watch.js";
import type { JudgedEntries, JudgedEntry } from "./judge-entries.js";
import type { LiveCatalog } from "./live-catalog.js";
import { type FollowedModels, ModelFeed, OwnModelFeed } from "./model-feed.js";
import { warnOfModels } from "./model-warnings.js";

/** A store of models, and how this process follows it. */
export interface WatchedModels {
  readonly store: ModelStore;
  readonly feed: FollowedModels;
  /** Lets requests wait for the first entries, and for those after an idle time. Costs the others no promise. */
  gate(resolve: ResolveCaller): ResolveCaller;
  close(): Promise<void>;
}

/** What models are watched with. */
export interface WatchedModelsOptions {
  readonly catalog: LiveCatalog;
  readonly plans: PlanStore;
  readonly limit: TimeLimit;
  readonly ttlMs: number;
  /** Whether no request may wait for what another one has begun: see `isIsolate`. */
  readonly isolate: boolean;
  readonly warn: Warn;
  readonly warnOnce: Warn;
}

/** Follows the entries of the store, and puts them into the catalog. */
export function watchedModels(store: ModelStore, options: WatchedModelsOptions): WatchedModels {
  const { limit, ttlMs, isolate, warn } = options;
  const watch = new ChangeWatch({
    subscribe: store.subscribe && ((onChange) => store.subscribe?.(onChange) ?? nothingToEnd),
    onChange: (id) => void feed.changed(id),
    // What has changed before was not told.
    onListening: () => void feed.read().catch(() => {}),
    what: "model",
    ...{ warn, isolate },
  });
  const feed: FollowedModels = new (isolate ? OwnModelFeed : ModelFeed)({
    store: {
      list: () => {
        watch.mayRemember();
        return store.list();
      },
      find: (id) => store.find(id),
    },
    limit,
    ttlMs,
    onEntries: (entries) => take(entries, options),
    onFailure: (cause) => {
      const message =
        "The model store failed, which is tried again: until then, the models go on as they are in this process.";
      warn({ code: "model_store_failed", message, cause });
    },
  });
  return {
    store,
    feed,
    gate: (resolve) => (caller) => (feed.admit() ? resolve(caller) : feed.ready().then(() => resolve(caller))),
    close: async () => {
      feed.close();
      await watch.close();
    },
  };
}

const nothingToEnd = async (): Promise<void> => {};

function take(entries: readonly StoredModel[], { catalog, plans, warn, warnOnce }: WatchedModelsOptions): void {
  const before = catalog.judged;
  const ids = new Set(catalog.current.keys());
  catalog.take(entries);
  warnOfInvalid(before, catalog, warn);
  warnOfModels(catalog.models, catalog.providers, warnOnce);
  const isSame = catalog.current.size === ids.size && [...catalog.current.keys()].every((id) => ids.has(id));
  if (!isSame || before.size === 0) warnOfPlans(catalog, plans, warnOnce);
}

/** Warns of what plans name that neither the options nor the store have. A plan that is not valid has its own warning. */
function warnOfPlans(catalog: LiveCatalog, plans: PlanStore, warn: Warn): void {
  try {
    for (const plan of plans.list?.() ?? []) warnOfUnmatched(toAllowance(plan.id, plan), catalog.current, warn);
  } catch {}
}

const mostNamed = 10;

function warnOfInvalid(before: JudgedEntries, catalog: LiveCatalog, warn: Warn): void {
  const news = [...catalog.judged.values()].filter(({ entry: { id, version }, problem }) => {
    const earlier = before.get(id);
    return problem !== undefined && (earlier?.problem !== problem || earlier.entry.version !== version);
  });
  for (const each of news.slice(0, mostNamed)) warn({ code: "model_invalid", message: messageOf(each, catalog) });
  if (news.length <= mostNamed) return;
  const message = `There are ${news.length - mostNamed} further models of the store that are not valid. gateway.models.list says which.`;
  warn({ code: "model_invalid", message });
}

function messageOf({ entry: { id }, terms, problem = "" }: JudgedEntry, catalog: LiveCatalog): string {
  const found = catalog.models.some((model) => model.id === id)
    ? terms
      ? "as the store had it before"
      : "as in the options"
    : "out of service";
  return (
    `The model ${JSON.stringify(id)} of the store is not valid: ${problem.replace(/\s*\n\s*/g, " ").slice(0, 1000)} ` +
    `In this process it stays ${found}. Mend it with gateway.models.put, or remove it.`
  );
}
