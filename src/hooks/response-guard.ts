import * as z from "zod";
import type { ReturnedTags, Tags } from "../prices/tags.js";
import type { UsageCounts } from "../prices/usage-counts.js";
import type { ResponseText } from "../protocols/shared/response-format.js";
import type { HookedCall } from "./admission.js";

/** The call whose answer a guard sees. */
export interface GuardedCall extends HookedCall {
  /** What `onRequest` and `gateway.as()` filed the call under; empty when nothing. */
  readonly tags: Tags;
}

/** A model's whole answer, as its client would get it. */
export interface GuardedResponse extends GuardedCall {
  /**
   * All that the model has written, in the answer's order and whatever the choice: texts, thoughts, refusals, names and
   * arguments of tools. Ids, URLs and encoded files are no texts.
   */
  readonly texts: readonly ResponseText[];
  /** Why the answer ended, in the words of the client's API: one for each choice. */
  readonly finishReasons: readonly string[];
  /** What the upstream has counted; absent when it has not. */
  readonly usage?: UsageCounts;
  /** Aborted when the call is broken off, as when the client leaves, and when `timeoutMs` is over. */
  readonly signal: AbortSignal;
}

/**
 * What a guard decides about an answer. `undefined`: it may go out. `refuse`: the client gets these words in its place; `code` is
 * for events, at most 64 letters, digits, `_`, `.` and `-`. `tags`: it may go out, and its call is filed under these, too.
 */
export type GuardVerdict =
  // biome-ignore lint/suspicious/noConfusingVoidType: an async function may end without a value
  void | { readonly refuse: string; readonly code?: string | undefined } | { readonly tags: ReturnedTags };

/** The host's check of what models answer. */
export interface ResponseGuard {
  /** For events, warnings and the journal: at most 64 letters, digits, `_`, `.` and `-`. Each guard has its own. */
  readonly name: string;
  /** Called with each whole answer, before its client gets a byte of it or, with `"watch"`, before the end of its stream. */
  readonly answer: (answer: GuardedResponse) => GuardVerdict | Promise<GuardVerdict>;
  /**
   * What becomes of a stream. `"hold"`: all of it is held back until the verdict. `"watch"`: it goes out as it comes, and a
   * refusal is only in the completed event and a tag. Whole answers are always held. Default: `"hold"`.
   */
  readonly stream?: "hold" | "watch" | undefined;
  /** How long `answer` may take, in milliseconds, up to 10 min. Beyond it, the guard has failed. Default: 2,000. */
  readonly timeoutMs?: number | undefined;
  /**
   * What becomes of a held answer where the guard throws, takes too long, or returns what is not valid. `"refuse"`: the
   * client gets a 503, and may retry. `"allow"`: the answer goes out. Default: `"refuse"`.
   */
  readonly onError?: "refuse" | "allow" | undefined;
  /** Whether the guard is for a call, decided before the call is made. Where it throws, the guard runs. Default: for every call. */
  readonly when?: ((call: GuardedCall) => boolean) | undefined;
}

const isFunction = (value: unknown): boolean => typeof value === "function";

const guardSchema = z.strictObject({
  name: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9_.-]{0,63}$/, "must have at most 64 letters, digits, _, . and -, with a letter first"),
  answer: z.custom<ResponseGuard["answer"]>(isFunction, "must be a function of the answer"),
  stream: z.enum(["hold", "watch"]).default("hold"),
  timeoutMs: z.number().int().positive().max(600_000).default(2_000),
  onError: z.enum(["refuse", "allow"]).default("refuse"),
  when: z.custom<NonNullable<ResponseGuard["when"]>>(isFunction, "must be a function of the call").optional(),
});

/** A guard with its defaults. */
export type ResolvedGuard = z.output<typeof guardSchema>;

/** The option `guards`. */
export const responseGuardsSchema = z.array(guardSchema).superRefine((guards, context) => {
  const names = new Set<string>();
  for (const [index, { name }] of guards.entries()) {
    if (names.has(name)) {
      const message = `repeats "${name}": give each guard a name of its own`;
      context.addIssue({ code: "custom", path: [index, "name"], message });
    }
    names.add(name);
  }
});
