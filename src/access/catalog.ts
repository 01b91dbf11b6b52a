import type { CompiledPrice } from "../metering/price.js";

import type { Lacking } from "../openai/chat/capabilities.js";
import type { MemberRules } from "../openai/request/member-rules.js";
import type { ResolvedDrainLimits } from "../plans/disconnect.js";
import type { Target } from "../routing/target.js";
import type { Route } from "../routing/target-route.js";
import type { ResolvedTokenBounds } from "../tokens/token-bounds.js";
import type { Tokenizer } from "../tokens/tokenizer.js";
import { matchesPattern } from "./matches-pattern.js";

/** A model as the pipeline uses it: everything resolved at construction. */
export interface CatalogModel {
  readonly id: string;
  readonly type: "chat" | "embedding";
  readonly contextLength: number;
  readonly maxOutputTokens: number | undefined;
  /** What its targets do not let requests choose, each rule once. */
  readonly rules: readonly MemberRules[];
  /** What it cannot do; `undefined`: requests pass whatever they ask for. */
  readonly lacking: Lacking | undefined;
  /** Requests that certainly exceed {@link contextLength} are refused. */
  readonly enforcesContext: boolean;
  readonly tokenizer: Tokenizer | undefined;
  /** Its answers may hold reasoning that is not shown. */
  readonly reasons: boolean;
  /** What its images, audio and files count at the most. */
  readonly tokenBounds: ResolvedTokenBounds;
  /** What is held for a call: the dearest of its targets'. */
  readonly price: CompiledPrice;
  /** The one that comes first; the only one of most models. */
  readonly target: Target;
  /** How a call gets from target to target; `undefined` when there is but one, called once. */
  readonly route: Route | undefined;
  /** How far answers are read on whose clients have left, unless the plan says otherwise. */
  readonly drain: ResolvedDrainLimits | "cancel";
  /** The model record as JSON text. */
  readonly record: string;
}

/** The models by id, in the order in which they are listed. */
export type Catalog = ReadonlyMap<string, CatalogModel>;

/** The ids that match at least one of the patterns, in which `*` stands for any run of characters. */
export function matchModels(catalog: Catalog, patterns: readonly string[]): ReadonlySet<string> {
  return new Set([...catalog.keys()].filter((id) => patterns.some((pattern) => matchesPattern(pattern, id))));
}
