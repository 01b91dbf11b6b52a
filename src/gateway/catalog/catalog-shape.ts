import * as z from "zod";
import { having } from "../../check/having.js";
import { idText } from "../../check/id-text.js";
import { largestCount } from "../../metering/token-counts.js";
import { modelTypes } from "../../operations/model-type.js";
import { mostDocuments } from "../../operations/rerank/rerank-request.js";
import { disconnectSchema } from "../../plans/plan-schema.js";
import type { UpstreamProvider } from "../../providers/upstream-provider.js";
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
} from "../target-options.js";

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
  providers: z.record(z.string(), having<UpstreamProvider>("a provider, such as openAICompatible({…})", ["call"])),
};

export type ResolvedModel = z.output<typeof modelSchema>;

/** The options of a catalog, checked one by one. */
export interface CatalogOptions {
  readonly models: readonly ResolvedModel[];
  readonly providers: Readonly<Record<string, UpstreamProvider>>;
}
