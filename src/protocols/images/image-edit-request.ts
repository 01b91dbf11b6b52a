import { GatewayError, invalidType, invalidValue, missingParameter } from "../../errors/gateway-error.js";
import { elementsOf, memberOf, membersOf } from "../../wire/json-members.js";
import { bySize } from "../../wire/slices.js";
import { type FormNames, type FormRequest, readFormRequest, withFields } from "../shared/form-request.js";
import { readFlag, readNumber } from "../shared/form-values.js";
import { type JsonRequest, parseJsonRequest } from "../shared/json-request.js";
import { addressAt, imageMedia, kindOfAddress } from "../shared/media-kind.js";
import { RequestNames } from "../shared/request-names.js";
import { type ImageRequest, type ImageValues, imageNames, jsonValues, readImageMembers } from "./image-request.js";

/** A request for edits of images, a form or JSON (OpenAI reference, "Create image edit"). */
export interface ImageEditRequest extends ImageRequest {
  /** The images and the mask that the model reads. */
  readonly inputs: number;
  /** `undefined`: it is JSON. */
  readonly form: FormRequest | undefined;
}

export const imageEditNames = new RequestNames({
  owned: [...imageNames.owned, "image", "images", "mask", "input_fidelity"],
});

const mostInputs = 16;

const imageForm: FormNames = {
  names: imageEditNames,
  lists: new Map(),
  files: new Map([
    ["image", mostInputs],
    ["mask", 1],
  ]),
  longest: new Map([["prompt", 128 * 1024]]),
};

const formValues: ImageValues = { count: readNumber, flag: readFlag };

/** @throws GatewayError 400 */
export async function parseImageEditForm(
  pieces: readonly Uint8Array[],
  contentType: string | undefined,
): Promise<ImageEditRequest> {
  return fromForm(await readFormRequest(pieces, contentType, imageForm));
}

/** @throws GatewayError 400 */
export async function parseImageEditJson(body: Uint8Array, maxDepth: number): Promise<ImageEditRequest> {
  return fromJson(await bySize(body.length, parseJsonRequest(body, maxDepth, imageEditNames)));
}

/** The same request with other fields of its form, as JSON. @throws GatewayError 400 */
export function imageEditWith(json: Uint8Array, { files }: FormRequest): ImageEditRequest {
  return fromForm(withFields(json, files, imageEditNames));
}

function fromForm(form: FormRequest): ImageEditRequest {
  if (memberOf(form.members, "images") !== undefined)
    throw invalidValue("images", "In a form, send 'image[]' as files.");
  if (!form.files.all.some(({ name }) => name === "image")) throw missingParameter("image");
  return { ...form, ...readImageMembers(form, formValues), inputs: form.files.all.length, form };
}

function fromJson(request: JsonRequest): ImageEditRequest {
  const { body, members, skips } = request;
  if (memberOf(members, "image") !== undefined) throw invalidValue("image", "In JSON, send 'images'.");
  const images = memberOf(members, "images");
  if (images === undefined || body[images.start] === 0x6e) throw missingParameter("images");
  if (body[images.start] !== 0x5b) throw invalidType("images", "an array");
  const elements = elementsOf(body, images.start, skips, mostInputs + 1);
  if (elements.length === 0 || elements.length > mostInputs) {
    throw invalidValue("images", `'images' must have 1 to ${mostInputs} items.`);
  }
  for (const [place, start] of elements.entries()) requireImage(request, start, `images[${place}]`);
  const mask = memberOf(members, "mask");
  const hasMask = mask !== undefined && body[mask.start] !== 0x6e;
  if (hasMask) requireImage(request, mask.start, "mask");
  const inputs = elements.length + (hasMask ? 1 : 0);
  return { ...request, ...readImageMembers(request, jsonValues), inputs, form: undefined };
}

/** Ids of files point into the operator's account, which all accounts share. */
function requireImage({ body, skips }: JsonRequest, start: number, path: string): void {
  if (body[start] !== 0x7b) throw invalidType(path, "an object with 'image_url'");
  const members = membersOf(body, start, mostInputs, skips);
  if (memberOf(members, "file_id") !== undefined) {
    throw new GatewayError(
      `'${path}.file_id' cannot be set here: uploads are not kept. Send 'image_url' with a data URL.`,
      {
        status: 400,
        code: "unsupported_parameter",
        param: `${path}.file_id`,
      },
    );
  }
  const [url, ...others] = members;
  if (url === undefined || url.name !== "image_url" || others.length > 0) {
    throw invalidValue(path, `'${path}' must have 'image_url', and nothing else.`);
  }
  const address = addressAt(body, url.start);
  const mayBeImage = /^(https:\/\/|data:)/.test(address) && kindOfAddress(address) <= imageMedia;
  if (body[url.start] !== 0x22 || !mayBeImage) {
    throw invalidValue(`${path}.image_url`, `'${path}.image_url' must be an image: an https address or a data URL.`);
  }
}
