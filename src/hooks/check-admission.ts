import * as z from "zod";
import { checkInput } from "../check/check-input.js";
import { tagsInput } from "../check/tags-input.js";
import { meantDimension, type Tags } from "../metering/tags.js";
import { isOwnedMember } from "../operations/owned-members.js";
import type { MemberEdits } from "../wire/json-members.js";
import { headerProblem } from "./header-problem.js";

/** What a hook has answered, checked. */
export interface CheckedAdmission {
  readonly tags: Tags | undefined;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>> | undefined;
  /** For the upstream's request. */
  readonly members: MemberEdits | undefined;
  /** New texts by their paths. */
  readonly texts: ReadonlyMap<string, string> | undefined;
}

const headers = z
  .record(z.string(), z.string({ error: "must be a string" }))
  .superRefine((given, context) => {
    for (const [name, value] of Object.entries(given)) {
      const problem = headerProblem(name, value);
      if (problem !== undefined) context.addIssue({ code: "custom", path: [name.slice(0, 100)], message: problem });
    }
  })
  .transform((given) => Object.fromEntries(Object.entries(given).map(([name, value]) => [name.toLowerCase(), value])));

const members = z.record(z.string(), z.unknown()).transform((given, context) => {
  const edits: MemberEdits = new Map();
  for (const [name, value] of Object.entries(given)) {
    const json = JSON.stringify(value) as string | undefined;
    const isOwned = isOwnedMember(name);
    if (json !== undefined && !isOwned) {
      edits.set(name, json);
      continue;
    }
    const message = isOwned ? "is set by the gateway itself" : "must be a JSON value";
    context.addIssue({ code: "custom", path: [name.slice(0, 100)], message });
  }
  return edits;
});

const texts = z.array(z.strictObject({ path: z.string(), text: z.string() })).transform((edits, context) => {
  const byPath = new Map<string, string>();
  for (const [index, { path, text }] of edits.entries()) {
    if (byPath.has(path)) context.addIssue({ code: "custom", path: [index], message: "repeats the path of another" });
    byPath.set(path, text);
  }
  return byPath;
});

const admissionInput = z.strictObject({
  tags: tagsInput(meantDimension).optional(),
  upstream: z.strictObject({ headers: headers.optional(), set: members.optional() }).optional(),
  texts: texts.optional(),
});

/**
 * Checks what `onRequest` has answered.
 * @returns `undefined` where it changes nothing.
 * @throws TypeError that lists what to fix.
 */
export function checkAdmission(answer: unknown): CheckedAdmission | undefined {
  if (answer === undefined) return undefined;
  const { tags, upstream, texts: edits } = checkInput("onRequest", admissionInput, answer);
  return { tags, headers: upstream?.headers, members: upstream?.set, texts: edits };
}
