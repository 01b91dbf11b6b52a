import { Buffer } from "node:buffer";
import { beyondTarget } from "../errors/refusal.js";
import { countAt } from "../protocols/shared/usage-tally.js";
import { isRecord } from "../wire/is-record.js";
import { type AISDKImageModel, mediaSettings, mergeProviderOptions, providerName } from "./ai-sdk-model.js";
import type { CheckedAISDKOptions } from "./ai-sdk-options.js";
import type { EditInput, RequestedImages, UnreadInputs } from "./edited-images.js";

/** The images of a response, in OpenAI's words. */
interface MadeImages {
  readonly created: number;
  readonly data: readonly { readonly b64_json: string; readonly revised_prompt?: string }[];
  /** As the model says, where all images agree. */
  readonly quality?: string;
  readonly size?: string;
  readonly usage?: object;
}

/** Calls at once, for models that make fewer images in one than a request may ask for. */
const parallelCalls = 4;

/** What the specification has no word for. */
const settings = [
  ...["quality", "style", "background", "moderation", "output_format", "output_compression"],
  ...["user", "safety_identifier", "input_fidelity"],
];

/** The options of a provider, and what its models have left unread so far. */
export interface ImageOptions extends CheckedAISDKOptions {
  readonly unread: UnreadInputs;
}

/**
 * Makes or changes the images of a request with as many calls as the model wants. When a call fails behind others that
 * gave images, these are the response: they have cost something.
 *
 * That a model does without what it is to change is known when it has made its images. They cost the operator
 * something, once: the next request is refused before a call.
 *
 * @throws GatewayError 400 for what a model of the AI SDK cannot do at all.
 */
export async function generateImages(
  { members: request, files, mask }: RequestedImages,
  model: AISDKImageModel,
  options: ImageOptions,
  signal: AbortSignal,
): Promise<MadeImages> {
  refuseImpossible(request, model);
  if (files !== undefined && model.specificationVersion === "v2") throw changesNone("image");
  const unread = options.unread.find(model, { files, mask });
  if (unread !== undefined) throw cannotRead(unread, files);
  const { prompt, size, seed } = request;
  const callOptions = {
    prompt,
    size: typeof size === "string" && size !== "auto" ? size : undefined,
    seed: typeof seed === "number" ? seed : undefined,
    files,
    mask,
    headers: options.headers,
    // Some models read them without a look whether there are any.
    providerOptions: mergeProviderOptions(mediaSettings(request, model, settings), options.providerOptions) ?? {},
    abortSignal: signal,
  };
  const results: MadeOnce[] = [];
  const counts = countsOf(typeof request["n"] === "number" ? request["n"] : 1, await mostPerCall(model));
  for (let start = 0; start < counts.length; start += parallelCalls) {
    // A model may ignore its signal. It is not called again for a client that has left.
    signal.throwIfAborted();
    const group = counts.slice(start, start + parallelCalls);
    const settled = await Promise.allSettled(
      group.map(async (n) => readResult(await call(model, { ...callOptions, n }, options.unread))),
    );
    for (const call of settled) if (call.status === "fulfilled") results.push(call.value);
    const failed = settled.find((call) => call.status === "rejected");
    if (failed === undefined) continue;
    if (results.every(({ images }) => images.length === 0)) throw failed.reason;
    break;
  }
  return toImages(results);
}

/** What is left out, or taken for something else, would be charged as what was asked for. */
function refuseImpossible(request: Record<string, unknown>, model: AISDKImageModel): void {
  if (request["response_format"] === "url") {
    throw beyondTarget(
      "response_format",
      "This model gives images as 'b64_json' alone. Leave 'response_format' out, or send 'b64_json'.",
    );
  }
  if (providerName(model) !== "google") return;
  for (const name of ["size", "quality"]) {
    const value = request[name];
    if (value === undefined || value === null || value === "auto") continue;
    throw beyondTarget(name, `This model chooses the '${name}' itself. Leave it out, or send 'auto'.`);
  }
}

/** Some models do without the images that they were given, and warn; others throw what has no name of its own. */
async function call(
  model: AISDKImageModel,
  options: Pick<RequestedImages, "files" | "mask"> & { n: number },
  unread: UnreadInputs,
): Promise<unknown> {
  const { files } = options;
  if (files === undefined) return await model.doGenerate(options as never);
  const result = await generate(model, options);
  for (const [feature, input] of inputs) {
    if (!isUnread(result, feature)) continue;
    unread.note(model, input, options);
    throw cannotRead(input, files);
  }
  return result;
}

async function generate(model: AISDKImageModel, options: Pick<RequestedImages, "mask">): Promise<unknown> {
  try {
    return await model.doGenerate(options as never);
  } catch (error) {
    const { name, message } = error instanceof Error ? error : { name: "", message: "" };
    if (name !== "Error" || !/not support/i.test(message) || !ofEdits.test(message)) throw error;
    throw changesNone(options.mask === undefined ? "image" : "mask");
  }
}

/** In a text: other things are not supported, either, such as a model in a region. */
const ofEdits = /\b(?:masks?|files?|edit(?:s|ing)?|image inputs?|input images?)\b/i;

/** The AI SDK's names of what an edit reads, and OpenAI's. */
const inputs: readonly (readonly [feature: string, input: EditInput])[] = [
  ["files", "image"],
  ["mask", "mask"],
];

function isUnread(result: unknown, feature: string): boolean {
  const warnings: unknown[] = isRecord(result) && Array.isArray(result["warnings"]) ? result["warnings"] : [];
  return warnings.some((warning) => isRecord(warning) && [warning["feature"], warning["setting"]].includes(feature));
}

/** @param files - of the request. Some models read one of several. */
function cannotRead(input: EditInput, files: RequestedImages["files"]): Error {
  if (input === "mask" || files === undefined || files.length < 2) return changesNone(input);
  return beyondTarget("image", "This model does not read that many images. Send fewer.");
}

function changesNone(input: EditInput): Error {
  const what = input === "image" ? "changes no images: it makes new ones alone" : "reads no mask. Leave it out";
  return beyondTarget(input, `This model ${what}.`);
}

async function mostPerCall({ maxImagesPerCall, modelId }: AISDKImageModel): Promise<number> {
  const most = typeof maxImagesPerCall === "function" ? await maxImagesPerCall({ modelId }) : maxImagesPerCall;
  return Math.max(1, most ?? 1);
}

/** How many images each call makes. */
function countsOf(n: number, most: number): number[] {
  return Array.from({ length: Math.ceil(n / most) }, (_, call) => Math.min(most, n - call * most));
}

/** Of one call. */
interface MadeOnce {
  readonly images: readonly string[];
  /** What the model says of each. */
  readonly details: readonly Readonly<Record<string, unknown>>[];
  readonly usage: unknown;
}

function readResult(result: unknown): MadeOnce {
  if (!isRecord(result) || !Array.isArray(result["images"])) throw new TypeError("The model's result has no images.");
  const { images, usage } = result;
  return { images: images.map(toBase64), details: detailsOf(result["providerMetadata"]), usage };
}

function toBase64(image: unknown): string {
  if (typeof image === "string") return image;
  if (image instanceof Uint8Array) return Buffer.from(image.buffer, image.byteOffset, image.length).toString("base64");
  throw new TypeError("The model's image is none.");
}

/** Under the provider's name, whatever that is. */
function detailsOf(metadata: unknown): Readonly<Record<string, unknown>>[] {
  const own: unknown[] = isRecord(metadata) ? Object.values(metadata) : [];
  const lists = own.map((about) => (isRecord(about) ? about["images"] : undefined));
  const found: unknown[] = lists.find((list) => Array.isArray(list)) ?? [];
  return found.map((about) => (isRecord(about) ? about : {}));
}

function toImages(results: readonly MadeOnce[]): MadeImages {
  const quality = agreed(results, "quality");
  const size = agreed(results, "size");
  const usage = sumOfImageUsage(results);
  return {
    created: Math.floor(Date.now() / 1000),
    data: results.flatMap(({ images, details }) => {
      return images.map((b64_json, index) => {
        const revised = details[index]?.["revisedPrompt"];
        return { b64_json, ...(typeof revised === "string" && { revised_prompt: revised }) };
      });
    }),
    ...(quality !== undefined && { quality }),
    ...(size !== undefined && { size }),
    ...(usage !== undefined && { usage }),
  };
}

function agreed(results: readonly MadeOnce[], name: string): string | undefined {
  const values = new Set(results.flatMap(({ images, details }) => images.map((_, index) => details[index]?.[name])));
  const [value] = values;
  return values.size === 1 && typeof value === "string" ? value : undefined;
}

/** The body of a response with images, one piece each: all of them at once would take long. */
export function* imageBody({ data, ...rest }: MadeImages): Generator<Uint8Array, void, undefined> {
  yield Buffer.from(`${JSON.stringify(rest).slice(0, -1)},"data":[`);
  for (const [index, image] of data.entries()) yield Buffer.from(`${index === 0 ? "" : ","}${JSON.stringify(image)}`);
  yield Buffer.from("]}");
}

/** Of one call, what the AI SDK says of tokens. */
interface CountedCall {
  readonly usage: unknown;
  /** Of each image: its share of the tokens that stand for texts and for images, where the server tells them apart. */
  readonly details: readonly Readonly<Record<string, unknown>>[];
}

/** OpenAI's `usage` of images, of the AI SDK's for each call. A half that one of them lacks is left out. */
export function sumOfImageUsage(calls: readonly CountedCall[]): object | undefined {
  const usages = calls.map(({ usage }) => (isRecord(usage) ? usage : {}));
  // No prompt and no image is without tokens: zero is no count.
  const [input, output] = ["inputTokens", "outputTokens"].map((name) =>
    sumOf(usages.map((each) => countAt(each, [[name]]) || undefined)),
  );
  if (input === undefined && output === undefined) return undefined;
  const details = calls.flatMap((each) => each.details);
  const [text, image] = ["textTokens", "imageTokens"].map((name) =>
    sumOf(details.map((each) => countAt(each, [[name]]))),
  );
  return {
    ...(input !== undefined && { input_tokens: input }),
    ...(output !== undefined && { output_tokens: output }),
    ...(input !== undefined && output !== undefined && { total_tokens: input + output }),
    ...(text !== undefined &&
      image !== undefined && { input_tokens_details: { text_tokens: text, image_tokens: image } }),
  };
}

/** @returns `undefined` unless all of them are counts. */
function sumOf(counts: readonly (number | undefined)[]): number | undefined {
  let sum = 0;
  for (const count of counts) {
    if (count === undefined) return undefined;
    sum += count;
  }
  return counts.length > 0 ? sum : undefined;
}
