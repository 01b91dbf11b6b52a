import { Buffer } from "node:buffer";
import { invalidValue } from "../errors/gateway-error.js";
import { beyondTarget } from "../errors/refusal.js";
import { isRecord } from "../wire/is-record.js";
import type { AISDKImageModel } from "./ai-sdk-model.js";
import { readDataURL, typeOfFile } from "./data-url.js";
import { readUploadedForm, type UploadedFile, type UploadedForm } from "./uploaded-form.js";

/** An image as the AI SDK's models read one. */
interface ImageFile {
  readonly type: "file";
  readonly mediaType: string;
  readonly data: Uint8Array;
}

/** A request for images, or for edits of some. */
export interface RequestedImages {
  readonly members: Readonly<Record<string, unknown>>;
  /** `undefined`: it is for new ones. */
  readonly files?: readonly ImageFile[] | undefined;
  readonly mask?: ImageFile | undefined;
}

/** Which fields of a form are numbers in JSON. */
const numbers = ["n", "output_compression"];

/**
 * Reads a request for edits, a form or JSON.
 * @throws GatewayError 400 for addresses: nothing is ever downloaded.
 */
export async function readEditedImages(call: {
  readonly body: Uint8Array;
  readonly contentType?: string | undefined;
}): Promise<RequestedImages> {
  if (/^multipart\//i.test(call.contentType ?? ""))
    return fromForm(await readUploadedForm(call.body, call.contentType));
  const members: unknown = JSON.parse(Buffer.from(call.body).toString());
  if (!isRecord(members)) throw new TypeError("The call's body is no JSON object.");
  const { images, mask, ...rest } = members;
  const all: unknown[] = Array.isArray(images) ? images : [];
  return {
    members: rest,
    files: all.map((image, index) => fromMember(image, `images[${index}]`)),
    ...(isRecord(mask) && { mask: fromMember(mask, "mask") }),
  };
}

function fromForm({ fields, files }: UploadedForm): RequestedImages {
  const members = [...fields].map(([name, [value]]) => [name, numbers.includes(name) ? Number(value) : value]);
  const mask = files.find(({ name }) => name === "mask");
  return {
    members: Object.fromEntries(members) as Record<string, unknown>,
    files: files.filter(({ name }) => name === "image").map(fromFile),
    ...(mask !== undefined && { mask: fromFile(mask) }),
  };
}

function fromFile({ bytes, type }: UploadedFile): ImageFile {
  return { type: "file", mediaType: typeOfFile("image", bytes, type), data: bytes };
}

function fromMember(image: unknown, path: string): ImageFile {
  const url = isRecord(image) ? image["image_url"] : undefined;
  const param = `${path}.image_url`;
  if (typeof url !== "string" || !/^data:/i.test(url)) {
    throw beyondTarget(param, "This model fetches no address: send the image itself, as a file or as a 'data:' URL.");
  }
  const { mediaType, data } = readDataURL(url, "image/png", param);
  if (!mediaType.startsWith("image/")) throw invalidValue(param, "This is no image.");
  return { type: "file", mediaType, data };
}

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
