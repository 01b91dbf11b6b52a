import { largestCount } from "../../metering/token-counts.js";
import type { ImageRequest } from "../../openai/images/image-request.js";
import { mostOfImages } from "../../openai/images/image-usage.js";
import type { Demand, ModelTraits } from "../operation.js";

/** What a request for images asks of a model. @param inputImage - tokens of images in the prompt, at the most. */
export function imageDemand(
  { asked, stream, promptTokens: ofText }: ImageRequest,
  model: ModelTraits,
  inputImage?: number,
): Demand {
  const promptTokens = Math.min(ofText + (inputImage ?? 0), largestCount);
  const bounds = { asked, promptTokens, inputImage, tokensOf: model.images?.tokensOf };
  // Each image of a stream comes with a usage of its own, the prompt in each.
  const times = stream ? asked.n : 1;
  const heldPromptTokens = Math.min(promptTokens * times, largestCount);
  const heldImages = inputImage === undefined ? undefined : Math.min(inputImage * times, largestCount);
  const most = mostOfImages({ ...bounds, promptTokens: heldPromptTokens, inputImage: heldImages });
  return {
    promptTokens: Math.min(promptTokens, model.contextLength),
    heldPromptTokens,
    promptBound: undefined,
    outputTokens: most.output,
    addedCap: undefined,
    most,
    // A stream that is broken off costs the image under way; a whole response all of them.
    handedOver: stream ? mostOfImages(bounds, 1) : most,
  };
}
