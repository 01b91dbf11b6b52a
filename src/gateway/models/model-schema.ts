import * as z from "zod";
import { having, idText } from "../../check/text-schemas.js";
import { largestCount } from "../../prices/usage-counts.js";
import { type ImageTokens, publishedTokens } from "../../protocols/images/image-usage.js";
import { mostDocuments } from "../../protocols/rerank/rerank-request.js";
import { modelTypes } from "../../protocols/shared/model-type.js";
import type { UpstreamProvider } from "../../providers/upstream-provider.js";
import { disconnectSchema } from "../../records/plans/record-plan-store.js";
import { reservedRecordMembers } from "../../server/model-record.js";
import type { Tokenizer } from "../../tokens/tokenizer.js";
import {
  allowMembersSchema,
  imageQuality,
  imageSize,
  mostImageRows,
  priceSchema,
  routingShape,
  unknownMembersSchema,
  upstreamSchema,
} from "./target-options.js";

const count = z.number().int().positive();
const tokens = z.number().nonnegative();

const modelName = idText().refine((id) => !/[\s*?#]/.test(id) && !id.startsWith("/") && !id.endsWith("/"), {
  error: "must hold no white space, *, ? or #, and no slash at either end",
});

export const modelSchema = z.strictObject({
  id: modelName,
  aliases: z.array(modelName).readonly().optional(),
  type: z.enum(modelTypes),
  publisher: z.string().min(1, "must not be empty").optional(),
  contextLength: count.optional(),
  maxOutputTokens: count.optional(),
  capabilities: z.record(z.string(), z.unknown()).optional(),
  unsupported: z.enum(["pass", "refuse", "drop"]).default("pass"),
  enforceContextLength: z.boolean().default(true),
  tokenizer: having<Tokenizer>("a tokenizer, such as fromGptTokenizer(…) of infergate/tokenizer", ["count"]).optional(),
  tokenBounds: z
    .strictObject({
      image: tokens.optional(),
      audioPerSecond: tokens.optional(),
      file: tokens.optional(),
    })
    .optional(),
  imageTokens: z
    .array(
      z.strictObject({ quality: imageQuality.optional(), size: imageSize.optional(), tokens: count.max(largestCount) }),
    )
    .min(1, "must have a row at least, such as { tokens: 6240 }")
    .max(mostImageRows)
    .readonly()
    .optional(),
  maxAudioSeconds: z.number().positive().max(1_000_000).optional(),
  leastAudioBytesPerSecond: z.number().positive().optional(),
  sizes: z.array(imageSize).min(1, "must have a size at least").readonly().optional(),
  rerank: z
    .strictObject({ maxDocuments: count.max(mostDocuments).optional(), chunkTokens: count.optional() })
    .optional(),
  price: priceSchema,
  upstream: upstreamSchema,
  ...routingShape,
  allowMembers: allowMembersSchema,
  unknownMembers: unknownMembersSchema,
  disconnect: disconnectSchema.optional(),
  extra: z
    .record(z.string(), z.unknown())
    .refine((extra) => !reservedRecordMembers.some((member) => member in extra), {
      error: `must not set what the gateway sets: ${reservedRecordMembers.join(", ")}`,
    })
    .optional(),
});

/** The options that make up the catalog. */
export const catalogShape = {
  models: z.array(modelSchema),
  providers: z.record(
    z.string(),
    having<UpstreamProvider>("a provider, such as openAICompatible({…})", ["call"]).refine(
      ({ ownKey }) => ownKey === undefined || typeof ownKey === "function",
      { error: "must be a function", path: ["ownKey"] },
    ),
  ),
};

export type ResolvedModel = z.output<typeof modelSchema>;

/** The options of a catalog, checked one by one. */
export interface CatalogOptions {
  readonly models: readonly ResolvedModel[];
  readonly providers: Readonly<Record<string, UpstreamProvider>>;
}

/** Whether some of a model's prices are for tokens of output. */
export function pricesOutput({ price, upstream }: Pick<ResolvedModel, "price" | "upstream">): boolean {
  return [price, ...upstream.flatMap((target) => [target.price, target.cost])].some(
    (each) => each?.output !== undefined || each?.outputAudio !== undefined,
  );
}

/** Whether some of them are for audio, in any step and tier. */
export function pricesAudio({ price, upstream }: Pick<ResolvedModel, "price" | "upstream">): boolean {
  return [price, ...upstream.flatMap((target) => [target.price, target.cost])].some((each) => {
    const tiers = Object.values(each?.tiers ?? {});
    const all = [each, ...tiers, ...[each, ...tiers].flatMap((one) => one?.steps ?? [])];
    return all.some((one) => [one?.inputAudio, one?.cachedInputAudio, one?.outputAudio].some(isGiven));
  });
}

function isGiven(amount: number | undefined): boolean {
  return amount !== undefined;
}

/** Whether some of them are for tokens of any kind. */
export function pricesTokens(model: Pick<ResolvedModel, "price" | "upstream">): boolean {
  const { price, upstream } = model;
  return (
    pricesOutput(model) ||
    [price, ...upstream.flatMap((target) => [target.price, target.cost])].some(
      (each) => each?.input !== undefined || each?.inputAudio !== undefined,
    )
  );
}

/** Whether some of its prices are for the tokens of images: a price for output is one for these, where they have none. */
export function pricesImageTokens({
  type,
  price,
  upstream,
}: Pick<ResolvedModel, "type" | "price" | "upstream">): boolean {
  if (type !== "image") return false;
  return [price, ...upstream.flatMap((target) => [target.price, target.cost])].some(
    (each) => each?.outputImage !== undefined || each?.output !== undefined,
  );
}

/** The most output tokens of its images; `undefined`: they are not known. */
export function imageTokensOf(
  model: Pick<ResolvedModel, "type" | "imageTokens" | "price" | "upstream">,
): readonly ImageTokens[] | undefined {
  if (model.imageTokens !== undefined) return model.imageTokens;
  if (!pricesImageTokens(model)) return undefined;
  const published = model.upstream.map((target) => publishedTokens(target.model));
  // They are the same for all of these models.
  return published.every((rows) => rows !== undefined) ? published[0] : undefined;
}
