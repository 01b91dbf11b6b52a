import * as z from "zod";
import { explainIssue } from "../check/explain-issue.js";
import { idProblem } from "../check/id-problem.js";
import { InputError } from "../check/input-error.js";
import { listProblems, problemsOf } from "../check/list-problems.js";
import { ModelConflictError } from "./model-conflict-error.js";
import type { ModelStore } from "./model-store.js";
import { mostModels, storageProblem, textVersion, toStoredModel } from "./model-text.js";

/** A kept text, and the id that it is kept under. */
export interface ModelText {
  readonly id: string;
  readonly text: string;
}

/** What to put. */
export interface ModelTextPut extends ModelText {
  /** The text that must be there; `null`: none; `undefined`: whatever is there. */
  readonly expected: string | null | undefined;
  /** A new entry is made only where there are fewer than this. */
  readonly most: number;
}

/** A store of texts. It leaves checks, JSON and versions to {@link checkedModelStore}. Each method is one atomic step. */
export interface ModelTexts extends Pick<ModelStore, "subscribe"> {
  /** All, in any order. */
  list(): Promise<readonly ModelText[]>;
  find(id: string): Promise<string | undefined>;
  /** @returns `"full"`: it would be one too many; `"unexpected"`: another text is there, or none. Nothing is written then. */
  put(put: ModelTextPut): Promise<"put" | "full" | "unexpected">;
  /**
   * @param expected - the text that must be there; `undefined`: any.
   * @returns whether it was there, and is gone.
   */
  remove(id: string, expected: string | undefined): Promise<boolean>;
}

const version = z.string({ error: "must be the `version` of an entry" });
const putCondition = z.strictObject({ expected: version.nullish() });
const removeCondition = z.strictObject({ expected: version.optional() });

/** The store of these texts. What it throws begins with `by`. */
export function checkedModelStore(by: string, texts: ModelTexts): ModelStore {
  const check = <Schema extends z.ZodType>(method: string, schema: Schema, input: unknown): z.output<Schema> => {
    const result = schema.safeParse(input, { error: explainIssue("member") });
    if (result.success) return result.data;
    throw invalid(method, problemsOf(result.error));
  };
  const invalid = (method: string, problems: readonly string[]) =>
    new InputError(listProblems(`${by}.${method}: what is given is not valid`, problems));
  const conflict = (method: string, id: string, expected: string | null | undefined) =>
    new ModelConflictError(
      `${by}.${method}: the model ${JSON.stringify(id)} ` +
        (expected === null
          ? "is there already. Read it, and put it with its version as `expected`."
          : "is not as it was in the version that is expected. Read it again, and decide anew."),
    );
  const find = async (id: string) => (idProblem(id) === undefined ? await texts.find(id) : undefined);

  return {
    ...(texts.subscribe && { subscribe: (onChange) => texts.subscribe?.(onChange) ?? nothingToEnd }),
    async list() {
      const found = await texts.list();
      return found.map(({ id, text }) => toStoredModel(id, text)).sort((one, other) => (one.id < other.id ? -1 : 1));
    },
    async find(id) {
      const text = await find(id);
      return text === undefined ? undefined : toStoredModel(id, text);
    },
    async put(model, condition = {}) {
      const { expected } = check("put", putCondition, condition);
      const problem = storageProblem(model);
      if (problem !== undefined) throw invalid("put", [problem]);
      const { id } = model;
      const text = JSON.stringify(model);
      const earlier = typeof expected === "string" ? await texts.find(id) : expected;
      if (typeof expected === "string" && (earlier == null || textVersion(earlier) !== expected)) {
        throw conflict("put", id, expected);
      }
      const outcome = await texts.put({ id, text, expected: earlier, most: mostModels });
      if (outcome === "unexpected") throw conflict("put", id, expected);
      if (outcome === "full")
        throw invalid("put", [`The store has ${mostModels} models, the most. Remove some first.`]);
      return textVersion(text);
    },
    async remove(id, condition = {}) {
      const { expected } = check("remove", removeCondition, condition);
      const earlier = await find(id);
      if (earlier === undefined) return false;
      if (expected === undefined) return texts.remove(id, undefined);
      const isDone = textVersion(earlier) === expected && (await texts.remove(id, earlier));
      if (!isDone && (await texts.find(id)) !== undefined) throw conflict("remove", id, expected);
      return isDone;
    },
  };
}

const nothingToEnd = async (): Promise<void> => {};
