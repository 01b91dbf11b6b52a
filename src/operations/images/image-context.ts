import type { AnswerContext } from "../../model-api/answer/answer-context.js";
import type { ImageContext } from "../../openai/images/image-answer.js";
import type { AskedImages } from "../../openai/images/image-usage.js";
import { contextWith } from "../answer-context.js";
import type { ModelTraits } from "../operation.js";

/** What the images of an attempt are read with. @param inputImage - the tokens of images in the prompt. */
export function imageContext(
  answer: AnswerContext,
  asked: AskedImages,
  { images }: Pick<ModelTraits, "images">,
  inputImage?: number,
): ImageContext {
  return contextWith(answer, { asked, inputImage, tokensOf: images?.tokensOf });
}
