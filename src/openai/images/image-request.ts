import { GatewayError, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import {
  type JsonRequest,
  parseJsonRequest,
  parseJsonRequestInTurns,
  readBoolean,
  readCount,
  readMember,
  readModel,
} from "../../model-api/request/json-request.js";
import { RequestNames } from "../../model-api/request/request-names.js";
import { textTokens } from "../../tokens/text-tokens.js";
import { memberOf } from "../../wire/json-members.js";
import { type AskedImages, kindName, named } from "./image-usage.js";

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
export function parseImageRequest(bytes: Uint8Array, maxDepth: number): ImageRequest {
  return toImageRequest(parseJsonRequest(bytes, maxDepth, imageNames));
}

/** The same for a large body, in slices between which other work can run. */
export async function parseImageRequestInTurns(bytes: Uint8Array, maxDepth: number): Promise<ImageRequest> {
  return toImageRequest(await parseJsonRequestInTurns(bytes, maxDepth, imageNames));
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
