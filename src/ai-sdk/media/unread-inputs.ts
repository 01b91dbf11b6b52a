import type { AISDKImageModel } from "../ai-sdk-model.js";
import type { RequestedImages } from "./edited-images.js";

/** OpenAI's name of what an edit reads. */
export type EditInput = "image" | "mask";

type Inputs = Pick<RequestedImages, "files" | "mask">;

/**
 * What models have left unread of edits. Such a model has made images all the same, which cost the operator something
 * and the client nothing: it is not called again for what it leaves out.
 *
 * Providers make a model anew for each call, so that it is known by its name. Some read one image, and leave out more.
 */
export class UnreadInputs {
  /** The fewest of each input that a model has left out. */
  readonly #fewest = new Map<string, number>();

  note(model: AISDKImageModel, input: EditInput, inputs: Inputs): void {
    const key = keyOf(model, input);
    this.#fewest.set(key, Math.min(countOf(input, inputs), this.#fewest.get(key) ?? Number.POSITIVE_INFINITY));
  }

  /** What the model is known to leave out of these; `undefined`: nothing. */
  find(model: AISDKImageModel, inputs: Inputs): EditInput | undefined {
    return editInputs.find((input) => {
      const fewest = this.#fewest.get(keyOf(model, input));
      return fewest !== undefined && countOf(input, inputs) >= fewest;
    });
  }
}

const editInputs: readonly EditInput[] = ["image", "mask"];

function countOf(input: EditInput, { files = [], mask }: Inputs): number {
  if (input === "image") return files.length;
  return mask === undefined ? 0 : 1;
}

function keyOf({ provider, modelId }: AISDKImageModel, input: EditInput): string {
  return JSON.stringify([provider, modelId, input]);
}
