import { GatewayError, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { memberOf } from "../../wire/json-members.js";
import type { Steps } from "../../wire/slices.js";
import {
  type JsonRequest,
  parseJsonRequest,
  readBoolean,
  readCount,
  readMember,
  readModel,
} from "../shared/json-request.js";
import { ProtocolTable, type Row, words } from "../shared/protocol-table.js";
import { RequestNames } from "../shared/request-names.js";
import { type AskedImages, kindName, named } from "./image-usage.js";

const otherAmounts: Row = {
  place: "member",
  treatment: "refused",
  names: words(`
    width height aspect_ratio resolution image_size megapixels num_images num_outputs num_images_per_prompt
    num_outputs_per_prompt number_of_images number_of_results n_images n_samples num_samples samples sample_count n_iter
    batch_size batch_count upscale upscale_factor step steps num_inference_steps frame_count num_frames frames fps
    frame_duration_ms duration seconds complexity svg candidate_count`),
  why: "chooses another number, another size or another effort than the price is for",
  advice: "Send 'n', 'size' and 'quality'.",
};

/** Frames of a GIF are as many images, and an SVG is written by another model. */
const otherFormats: Row = {
  place: "member",
  treatment: "refused",
  names: ["output_format"],
  why: "asks for several frames or for what another model writes, at a price of its own",
  advice: "Send 'png', 'jpeg' or 'webp'.",
  neutral: ['"png"', '"jpeg"', '"jpg"', '"webp"'],
};

/** What a request for images may hold, at OpenAI and at the servers that speak its API. */
export const imagesTable = new ProtocolTable(
  {
    protocol: "images/generations",
    reference: 'OpenAI, "Create image" (openai 7.59.0), and the servers that speak it',
    date: "2026-11-29",
    // Of an image, and no way to fetch a response later.
    own: ["background"],
    isClosed: true,
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model prompt n size quality stream partial_images response_format output_compression background
        moderation style user metadata safety_identifier
        negative_prompt seed guidance guidance_scale cfg_scale`),
    },
    { place: "open member", treatment: "passes", names: ["metadata"] },
    otherAmounts,
    otherFormats,
    {
      place: "member",
      treatment: "refused",
      names: words(`
        image images image_url image_urls image_prompt image_data mask mask_image reference_image reference_images ref_image
        ref_images input_image input_images input_reference init_image init_images source_image control_image file files`),
      why: "is an image that would be edited, at a price of its own",
      advice: "Leave it out.",
    },
  ],
);

/** What a request for edits of images may hold. */
export const imageEditsTable = new ProtocolTable(
  {
    protocol: "images/edits",
    reference: 'OpenAI, "Create image edit" (openai 7.59.0), and the servers that speak it',
    date: "2026-11-29",
    own: ["background"],
    isClosed: true,
  },
  [
    {
      place: "member",
      treatment: "passes",
      names: words(`
        model prompt image images mask n size quality stream partial_images response_format
        output_compression background moderation input_fidelity style user metadata safety_identifier
        negative_prompt seed guidance guidance_scale cfg_scale strength`),
    },
    { place: "open member", treatment: "passes", names: ["metadata"] },
    otherAmounts,
    otherFormats,
    {
      place: "member",
      treatment: "refused",
      names: words(`
        image_url image_urls image_prompt image_data mask_image reference_image reference_images ref_image ref_images
        input_image input_images input_reference init_image init_images source_image control_image markup file files file_id`),
      why: "is an image beside those that are counted",
      advice: "Send 'image[]' in a form, or 'images' in JSON.",
    },
  ],
);

/** The members of a request for images that the gateway reads (OpenAI reference, "Create image"). */
export interface ImageRequest extends JsonRequest {
  readonly model: string;
  readonly stream: boolean;
  readonly asked: AskedImages;
  /** `undefined`: the server chooses. */
  readonly format: string | undefined;
  /** At the most. */
  readonly promptTokens: number;
}

export const imageNames = new RequestNames({
  owned: ["model", "prompt", "n", "size", "quality", "stream", "partial_images", "response_format"],
});

const mostImages = 10;
const mostPartials = 3;
/** Around a prompt. */
const marks = 16;
const sizes = /^[1-9]\d{1,3}x[1-9]\d{1,3}$/;

/**
 * Checks the members that the gateway reads. Every other member goes to the upstream unchanged.
 * @throws GatewayError 400
 */
export function* parseImageRequest(bytes: Uint8Array, maxDepth: number): Steps<ImageRequest> {
  return toImageRequest(yield* parseJsonRequest(bytes, maxDepth, imageNames));
}

function toImageRequest(request: JsonRequest): ImageRequest {
  return { ...request, ...readImageMembers(request, jsonValues) };
}

/** How the members of a request are read: a form has texts alone. */
export interface ImageValues {
  readonly count: (request: JsonRequest, name: string, least: number, most: number) => number | undefined;
  readonly flag: (request: JsonRequest, name: string) => boolean;
}

export const jsonValues: ImageValues = {
  count: (request, name, least, most) => readCount(name, readMember(request, name), most, least),
  flag: readBoolean,
};

/** What requests for images and for edits of images have in common. @throws GatewayError 400 */
export function readImageMembers(
  request: JsonRequest,
  { count, flag }: ImageValues,
): Omit<ImageRequest, keyof JsonRequest> {
  const model = readModel(request);
  const { start, end } = requirePrompt(request);
  return {
    model,
    stream: flag(request, "stream"),
    asked: {
      quality: named(readWord(request, "quality")),
      size: named(readSize(request)),
      n: count(request, "n", 1, mostImages) ?? 1,
      partials: count(request, "partial_images", 0, mostPartials) ?? 0,
    },
    format: readFormat(request),
    promptTokens: textTokens(request.body.subarray(start + 1, end - 1), true) + negativeTokens(request) + marks,
  };
}

/** Of what the images are not to show: some models read it, too. */
function negativeTokens({ body, members }: JsonRequest): number {
  const negative = memberOf(members, "negative_prompt");
  return negative === undefined ? 0 : textTokens(body.subarray(negative.start, negative.end), true);
}

function requirePrompt({ body, members }: JsonRequest): { readonly start: number; readonly end: number } {
  const prompt = memberOf(members, "prompt");
  if (prompt === undefined || body[prompt.start] === 0x6e) throw missingParameter("prompt");
  if (body[prompt.start] !== 0x22) throw invalidType("prompt", "a string");
  if (prompt.end - prompt.start === 2) throw invalidValue("prompt", "'prompt' must not be an empty string.");
  return prompt;
}

function readWord(request: JsonRequest, name: string): string | undefined {
  const value = readMember(request, name);
  if (value === undefined) return undefined;
  if (typeof value !== "string") throw invalidType(name, "a string");
  if (!kindName.test(value)) throw invalidValue(name, `'${name}' must be a word, such as 'high'.`);
  return value;
}

function readSize(request: JsonRequest): string | undefined {
  const size = readMember(request, "size");
  if (size === undefined || size === "auto") return size;
  if (typeof size !== "string") throw invalidType("size", "a string");
  if (!sizes.test(size))
    throw invalidValue("size", "'size' must be 'auto', or a width and a height such as 1024x1024.");
  return size;
}

function readFormat(request: JsonRequest): string | undefined {
  const format = readMember(request, "response_format");
  if (format === undefined || format === "url" || format === "b64_json") return format;
  throw invalidValue("response_format", "'response_format' must be 'url' or 'b64_json'.");
}

/** @throws GatewayError 400 when the model does not make images of this size. */
export function requireSize(
  { asked: { size } }: Pick<ImageRequest, "asked">,
  sizes: readonly string[] | undefined,
): void {
  if (size === undefined || sizes === undefined || sizes.includes(size)) return;
  throw new GatewayError(`'size' must be one of auto, ${sizes.join(", ")}.`, {
    status: 400,
    code: "invalid_value",
    param: "size",
  });
}
