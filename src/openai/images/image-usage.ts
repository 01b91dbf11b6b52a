import { readTokenCount } from "../../metering/token-counts.js";
import type { ImageCount, UsageCounts } from "../../metering/usage-counts.js";
import { readReport } from "../../model-api/usage/usage-tally.js";
import { isRecord } from "../../wire/is-record.js";

/** What a request asks for, as far as it shows what its images cost. */
export interface AskedImages {
  /** `undefined`: the server chooses. */
  readonly quality: string | undefined;
  /** `undefined`: the server chooses. */
  readonly size: string | undefined;
  readonly n: number;
  /** Previews of each image. */
  readonly partials: number;
}

/** What is needed to count images. */
export interface ImageBounds {
  readonly asked: AskedImages;
  /** The tokens of the prompt where the upstream reports no usage. */
  readonly promptTokens: number;
  /** Those of them that stand for images. */
  readonly inputImage?: number | undefined;
  /** The most output tokens of such an image; `undefined`: its model is not priced by them. */
  readonly tokensOf: ((image: Omit<ImageCount, "count">) => number) | undefined;
}

/** A preview of an image costs as many. */
const tokensOfPartial = 100;

/**
 * Reads the usage of images. Output tokens that are not said to be of a text stand for images.
 * @param inputImage - the most that images in the prompt can count, whose tokens are not told from the text's everywhere.
 * @returns `undefined` when there is none. No image is without tokens: a server that counts none has counted nothing.
 */
export function readImageUsage(usage: unknown, inputImage = 0): UsageCounts | undefined {
  const report = readReport(usage);
  if (!isRecord(usage) || !report?.hasInput || report.tokens.output === 0) return undefined;
  const { input, output } = report.tokens;
  const of = detailsOf(usage["input_tokens_details"] ?? usage["prompt_tokens_details"]);
  const made = detailsOf(usage["output_tokens_details"] ?? usage["completion_tokens_details"]);
  const cached = Math.min(of.cached ?? 0, input);
  const ofImages = Math.min(of.image ?? Math.min(inputImage, input - Math.min(of.text ?? 0, input)), input);
  return {
    input,
    cachedInput: cached,
    ...((of.image !== undefined || ofImages > 0) && { inputImage: ofImages }),
    output,
    outputImage:
      made.text === undefined ? Math.min(made.image ?? output, output) : output - Math.min(made.text, output),
    reasoning: 0,
  };
}

function detailsOf(details: unknown) {
  const read = (name: string) => (isRecord(details) ? readTokenCount(details[name]) : undefined);
  return { text: read("text_tokens"), image: read("image_tokens"), cached: read("cached_tokens") };
}

/** What so many images cost where nothing more is known of them. @param partials - previews that came beside them. */
export function boundOfImages(images: readonly ImageCount[], bounds: ImageBounds, partials: number): UsageCounts {
  const { promptTokens, inputImage, tokensOf } = bounds;
  const counted = { input: promptTokens, cachedInput: 0, ...(inputImage !== undefined && { inputImage }), images };
  if (tokensOf === undefined) return { ...counted, output: 0, reasoning: 0 };
  const output = images.reduce((sum, image) => sum + image.count * tokensOf(image), partials * tokensOfPartial);
  return { ...counted, output, outputImage: output, reasoning: 0 };
}

/** The most that a request can cause. */
export function mostOfImages(bounds: ImageBounds, n = bounds.asked.n): UsageCounts {
  const { quality, size, partials } = bounds.asked;
  return boundOfImages([{ quality, size, count: n }], bounds, n * partials);
}

/** What an image is: by its response, else by its request. */
export function kindOfImage(json: Readonly<Record<string, unknown>>, asked: AskedImages): Omit<ImageCount, "count"> {
  return { quality: named(json["quality"]) ?? asked.quality, size: named(json["size"]) ?? asked.size };
}

/** What qualities and sizes are called. Other marks would make two kinds of one in the journal. */
export const kindName = /^[\w.-]{1,32}$/;

/** `undefined` where the server chooses, and where it is no name. */
export function named(value: unknown): string | undefined {
  if (typeof value !== "string" || !kindName.test(value)) return undefined;
  return value.toLowerCase() === "auto" ? undefined : value;
}
