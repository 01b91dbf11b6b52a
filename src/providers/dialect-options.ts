import * as z from "zod";
import { explainOnce } from "../check/explain-issue.js";
import type { Dialect } from "../model-api/dialect.js";
import { isHeaderName } from "./header-syntax.js";

const memberNames = (kept: readonly string[]) =>
  z.array(z.string().refine((name) => !kept.includes(name), { error: `must not be one of ${kept.join(", ")}` }));

const dialectSchema: z.ZodType<Dialect> = z.strictObject({
  capName: z.enum(["max_tokens", "max_completion_tokens"]).optional(),
  developerRole: z.enum(["system", "user"]).optional(),
  laterSystemRole: z.literal("user").optional(),
  renamed: z.record(memberName(), memberName()).optional(),
  dropped: memberNames(["model", "messages", "input", "stream"]).optional(),
  strictMembers: z.boolean().optional(),
  restricted: z
    .record(memberName().max(64, "must have at most 64 characters"), z.enum(["pass", "drop", "refuse"]))
    .refine(({ tools }) => tools !== "drop", { error: 'can be "pass" or "refuse"', path: ["tools"] })
    .optional(),
  droppedFromMessages: memberNames(["role", "content"]).optional(),
  usagePerChoice: z.boolean().optional(),
  finishReason: z.enum(["optional", "required"]).optional(),
  hiddenUsage: memberNames(["prompt_tokens", "completion_tokens", "total_tokens"]).optional(),
  imageFormat: z.enum(["b64_json", "url", "none"]).optional(),
  transcriptFormats: z.array(z.string()).readonly().optional(),
  timedTranscripts: z.enum(["json", "verbose_json"]).optional(),
  transcriptStream: z.strictObject({ fields: z.record(memberName(), z.string()) }).optional(),
  speechEvents: z.boolean().optional(),
  rerank: z.enum(["cohere", "jina", "voyage", "tei"]).optional(),
  keyHeader: z
    .string()
    .refine((name) => isHeaderName(name) && name === name.toLowerCase(), {
      error: 'must be the name of a header in lower case, such as "api-key"',
    })
    .optional(),
  deploymentPaths: z.boolean().optional(),
  readError: z
    .custom<NonNullable<Dialect["readError"]>>((value) => typeof value === "function", "must be a function")
    .optional(),
});

/** Reports what is wrong with a dialect. */
export function checkDialectOptions(dialect: unknown, context: z.RefinementCtx): void {
  const result = dialectSchema.safeParse(dialect, explainOnce("option"));
  for (const issue of result.error?.issues ?? []) {
    context.addIssue({ code: "custom", message: issue.message, path: [...issue.path] });
  }
}

function memberName() {
  const kept = ["model", "messages", "input", "stream", "stream_options", "max_tokens", "max_completion_tokens", "n"];
  return z.string().refine((name) => !kept.includes(name), { error: "is the gateway's own: it cannot be changed" });
}
