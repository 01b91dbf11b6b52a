import { PriceRows } from "../../prices/compile-units.js";
import type { ImageCount, UsageCounts } from "../../prices/usage-counts.js";
import { isRecord } from "../../wire/is-record.js";
import type { PriceTerms } from "../shared/model-type.js";
import type { CountedTokens } from "../shared/token-estimate.js";
import { partPlaces } from "../shared/usage-report.js";
import { countAt, readReport } from "../shared/usage-tally.js";

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

/** What is reported of images, by halves. `undefined`: that half is not counted. */
export interface ImageReport {
  readonly input: UsageCounts | undefined;
  readonly output: UsageCounts | undefined;
}

const nothing: UsageCounts = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };

/**
 * Reads the usage of images. Output tokens that are not said to be of a text stand for images. No image is without tokens, and
 * no prompt: a half of zero is none.
 * @param inputImage - the most that images in the prompt can count, whose tokens are not told from the text's everywhere.
 */
export function readImageReport(usage: unknown, inputImage = 0): ImageReport {
  const report = readReport(usage);
  if (!isRecord(usage) || report === undefined) return { input: undefined, output: undefined };
  const { tokens } = report;
  return {
    input: report.hasInput ? inputOf(usage, tokens, inputImage) : undefined,
    output: report.hasOutput && tokens.output > 0 ? outputOf(usage, tokens) : undefined,
  };
}

function inputOf(usage: Record<string, unknown>, { input, cachedInput }: UsageCounts, inputImage: number): UsageCounts {
  const said = countAt(usage, partPlaces.inputImage);
  const text = countAt(usage, partPlaces.inputText) ?? 0;
  const ofImages = Math.min(said ?? Math.min(inputImage, input - Math.min(text, input)), input);
  return { ...nothing, input, cachedInput, ...((said !== undefined || ofImages > 0) && { inputImage: ofImages }) };
}

function outputOf(usage: Record<string, unknown>, { output }: UsageCounts): UsageCounts {
  const text = countAt(usage, partPlaces.outputText);
  const image = countAt(usage, partPlaces.outputImage) ?? output;
  return {
    ...nothing,
    output,
    outputImage: text === undefined ? Math.min(image, output) : output - Math.min(text, output),
  };
}

/** What has been made, and what is said of it. */
interface ImagesMade extends ImageReport {
  readonly images: readonly ImageCount[];
  /** Previews that came beside them. */
  readonly partials: number;
}

/** What images count: each half as it is reported, else as much as it can be. */
export function tokensOfImages({ input, output, images, partials }: ImagesMade, bounds: ImageBounds): CountedTokens {
  const read = input ?? boundOfPrompt(bounds);
  const { outputImage, ...made } = output ?? boundOfOutput(images, bounds, partials);
  const tokens: UsageCounts = { ...read, output: made.output, images };
  if (outputImage !== undefined) tokens.outputImage = outputImage;
  return { tokens, estimated: bounds.tokensOf !== undefined && (input === undefined || output === undefined) };
}

function boundOfPrompt({ promptTokens, inputImage }: ImageBounds): UsageCounts {
  return { ...nothing, input: promptTokens, ...(inputImage !== undefined && { inputImage }) };
}

function boundOfOutput(images: readonly ImageCount[], { tokensOf }: ImageBounds, partials: number): UsageCounts {
  if (tokensOf === undefined) return nothing;
  const output = images.reduce((sum, image) => sum + image.count * tokensOf(image), partials * tokensOfPartial);
  return { ...nothing, output, outputImage: output };
}

/** What so many images cost where nothing more is known of them. @param partials - previews that came beside them. */
export function boundOfImages(images: readonly ImageCount[], bounds: ImageBounds, partials: number): UsageCounts {
  return tokensOfImages({ images, partials, input: undefined, output: undefined }, bounds).tokens;
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

/** The most output tokens of images of a kind. */
export interface ImageTokens {
  /** Such as `high`. Default: any that has no row of its own. */
  quality?: string | undefined;
  /** Such as `1024x1024`. Default: any that has no row of its own. */
  size?: string | undefined;
  tokens: number;
}

/** Finds the most output tokens of an image, by the rows of its model: the same as its price. */
export function tokenRows(rows: readonly ImageTokens[]): (image: Omit<ImageCount, "count">) => number {
  const prices = new PriceRows(rows.map(({ quality, size, tokens }) => ({ quality, size, weight: BigInt(tokens) })));
  return (image) => rows[prices.placeFor({ ...image, count: 1 })]?.tokens ?? 0;
}

const gptImage = /^gpt-image-1(-mini|\.5)?(-\d{4}-\d{2}-\d{2})?$/;

const sizes = ["1024x1024", "1024x1536", "1536x1024"];
const published = { low: [272, 408, 400], medium: [1056, 1584, 1568], high: [4160, 6240, 6208] };

/** What OpenAI has published of a model; `undefined`: nothing. @param name - OpenAI's own. */
export function publishedTokens(name: string): readonly ImageTokens[] | undefined {
  if (!gptImage.test(name)) return undefined;
  return Object.entries(published).flatMap(([quality, counts]) =>
    counts.map((tokens, place) => ({ quality, size: sizes[place], tokens })),
  );
}

/** By the image, by tokens, or by the call. */
export const imagePrices: PriceTerms = {
  required: [["images"], ["outputImage"], ["request"]],
  known: [
    ...(["images", "request", "input", "cachedInput", "output"] as const),
    ...(["inputImage", "cachedInputImage", "outputImage"] as const),
  ],
};
