import type { PriceTerms } from "../price-terms.js";

/** By the image, by tokens, or by the call. */
export const imagePrices: PriceTerms = {
  required: [["images"], ["outputImage"], ["request"]],
  known: [
    ...(["images", "request", "input", "cachedInput", "output"] as const),
    ...(["inputImage", "cachedInputImage", "outputImage"] as const),
  ],
};
