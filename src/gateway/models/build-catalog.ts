import type { Catalog, CatalogModel } from "../../access/catalog.js";
import type { Warn } from "../../events/warning.js";
import { largestCount } from "../../prices/usage-counts.js";
import { tokenRows } from "../../protocols/images/image-usage.js";
import { usualChunkTokens, usualDocuments } from "../../protocols/rerank/rerank-request.js";
import type { MissingCapabilities } from "../../protocols/shared/missing-capabilities.js";
import { audioTypes, drainedTypes } from "../../protocols/shared/model-type.js";
import type { AudioTraits, ImageTraits, RerankTraits } from "../../protocols/shared/operation.js";
import { toDrainLimits } from "../../records/plans/plan-store.js";
import type { UsedProvider } from "../../routing/target-route.js";
import { modelRecord } from "../../server/model-record.js";
import { hostTokenizer, resolveTokenBounds } from "../../tokens/tokenizer.js";
import { buildRoute } from "./build-route.js";
import { imageTokensOf, pricesAudio, pricesOutput, pricesTokens, type ResolvedModel } from "./model-schema.js";

/** What a catalog is built with. */
export interface CatalogContext {
  /** What the caller called, for error messages. */
  readonly by: string;
  /** Of the gateway's own keys. */
  readonly keyPrefix: string;
  /** By their names in the options. */
  readonly providers: ReadonlyMap<string, UsedProvider>;
  /** The catalog before: targets that stay keep their counts. */
  readonly previous: Catalog | undefined;
  /** What is not built again, by what it was built of. */
  readonly kept: ReadonlyMap<ResolvedModel, CatalogModel>;
  /** Gets what the host's tokenizers do wrong. */
  readonly warnOnce: Warn;
}

/** @throws TypeError for a price that is not valid. */
export function buildCatalog(models: readonly ResolvedModel[], context: CatalogContext): Catalog {
  return new Map(models.flatMap((model) => underItsNames(context.kept.get(model) ?? buildModel(model, context))));
}

function underItsNames(model: CatalogModel): [string, CatalogModel][] {
  return [model, ...model.aliases].map((each) => [each.alias ?? each.id, each]);
}

function buildModel(model: ResolvedModel, { previous, ...context }: CatalogContext): CatalogModel {
  const { id, type, contextLength = largestCount, maxOutputTokens } = model;
  const before = previous?.get(id);
  // What was an alias of another model has been no model of its own.
  const routing = buildRoute(model, { ...context, previous: before?.alias === undefined ? before?.route : undefined });
  const drain = toDrainLimits(model.disconnect ?? (drainedTypes.includes(type) ? "drain" : "cancel"));
  const record = modelRecord(model);
  const missing = missingOf(model);
  const { enforceContextLength: enforcesContext, capabilities } = model;
  const tokenizer = model.tokenizer && hostTokenizer(model.tokenizer, tokenizerWarning(id, context.warnOnce));
  const reasons = capabilities?.["reasoning"] === true;
  const tokenBounds = resolveTokenBounds(model.tokenBounds);
  const limits = { contextLength, maxOutputTokens, missing, enforcesContext, tokenizer, tokenBounds, reasons };
  const media = { images: type === "image" ? imageTraits(model) : undefined, audio: audioTraits(model) };
  const rerank = type === "rerank" ? rerankTraits(model) : undefined;
  const hasAudioPrice = pricesAudio(model) || undefined;
  const built: CatalogModel = {
    id,
    alias: undefined,
    type,
    ...limits,
    ...media,
    rerank,
    pricesAudio: hasAudioPrice,
    ...routing,
    drain,
    record,
    aliases: [],
  };
  const { aliases = [] } = model;
  if (aliases.length === 0) return built;
  const aliasRecord = (alias: string) => modelRecord({ ...model, id: alias, aliasOf: id });
  return { ...built, aliases: aliases.map((alias) => ({ ...built, alias, record: aliasRecord(alias) })) };
}

function tokenizerWarning(model: string, warnOnce: Warn): (cause: unknown) => void {
  const message = `The tokenizer of the model "${model}" fails: prompts are bounded as without it.`;
  return (cause) => warnOnce({ code: "hook_failed", message, cause });
}

function rerankTraits({ rerank }: ResolvedModel): RerankTraits {
  return {
    maxDocuments: rerank?.maxDocuments ?? usualDocuments,
    chunkTokens: rerank?.chunkTokens ?? usualChunkTokens,
  };
}

function imageTraits(model: ResolvedModel): ImageTraits {
  const rows = imageTokensOf(model);
  return { sizes: model.sizes, tokensOf: rows && tokenRows(rows) };
}

function audioTraits(model: ResolvedModel): AudioTraits | undefined {
  const { type, maxAudioSeconds: mostSeconds, leastAudioBytesPerSecond: leastBytesPerSecond } = model;
  if (!audioTypes.includes(type)) return undefined;
  const byTokens = type === "transcription" ? pricesTokens(model) : pricesOutput(model);
  return { byTokens, mostSeconds, leastBytesPerSecond };
}

/** The capabilities that the model lacks: those that its options do not set to `true`. */
function missingOf({ unsupported, capabilities = {} }: ResolvedModel): MissingCapabilities | undefined {
  if (unsupported === "pass") return undefined;
  const [tools, reasoning, vision] = ["tools", "reasoning", "vision"].map((name) => capabilities[name] !== true);
  return { action: unsupported, tools: tools === true, reasoning: reasoning === true, vision: vision === true };
}
