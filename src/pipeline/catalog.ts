import type { CompiledPrice } from "../ledger/price.js";
import type { Lacking } from "../openai/lacking.js";
import type { Tokenizer } from "../openai/tokenizer.js";
import type { UpstreamProvider } from "../providers/upstream-provider.js";

/** A model as the pipeline uses it: everything resolved at construction. */
export interface CatalogModel {
  readonly id: string;
  readonly type: "chat" | "embedding";
  readonly contextLength: number;
  readonly maxOutputTokens: number | undefined;
  /** What it cannot do; `undefined`: requests pass whatever they ask for. */
  readonly lacking: Lacking | undefined;
  /** Requests that certainly exceed {@link contextLength} are refused. */
  readonly enforcesContext: boolean;
  readonly tokenizer: Tokenizer | undefined;
  readonly price: CompiledPrice;
  readonly provider: UpstreamProvider;
  /** The provider's name in the options. */
  readonly providerName: string;
  /** The upstream's name for the model. */
  readonly upstreamModel: string;
  /** The model record as JSON text. */
  readonly record: string;
}

/** The models by id, in the order in which they are listed. */
export type Catalog = ReadonlyMap<string, CatalogModel>;

/** The ids that match at least one of the patterns, in which `*` stands for any run of characters. */
export function matchModels(catalog: Catalog, patterns: readonly string[]): ReadonlySet<string> {
  const matches = patterns.map(toMatcher);
  return new Set([...catalog.keys()].filter((id) => matches.some((matchesId) => matchesId(id))));
}

function toMatcher(pattern: string): (id: string) => boolean {
  if (!pattern.includes("*")) return (id) => id === pattern;
  const parts = pattern.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\/-]/g, "\\$&"));
  const expression = new RegExp(`^${parts.join("[^]*")}$`);
  return (id) => expression.test(id);
}
