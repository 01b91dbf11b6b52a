import type { Model } from "../../../../src/gateway/models/model.js";
import { type MediaOptions, startMedia } from "../../media-server.js";

/** Priced by the image. */
export const rowModel: Model = {
  id: "acme/paint",
  type: "image",
  price: {
    images: [
      { quality: "hd", size: "1024x1024", credits: 0.08 },
      { quality: "hd", credits: 0.12 },
      { size: "512x512", credits: 0.018 },
      { credits: 0.04 },
    ],
  },
  upstream: { provider: "fake", model: "dall-e-3" },
};

/** Priced by tokens. */
export const tokenModel: Model = {
  id: "acme/image",
  type: "image",
  price: { input: 5, inputImage: 10, outputImage: 40 },
  upstream: { provider: "fake", model: "gpt-image-1" },
};

export const image = Buffer.from("an image").toString("base64");

export const imageUsage = {
  input_tokens: 10,
  output_tokens: 100,
  total_tokens: 110,
  input_tokens_details: { text_tokens: 10, image_tokens: 0 },
};

export const imagesOf = (n: number, members: object = {}) => ({
  created: 1_700_000_000,
  data: Array.from({ length: n }, () => ({ b64_json: image })),
  ...members,
});

export function startImages(options: Partial<MediaOptions> = {}) {
  return startMedia({
    models: [rowModel, tokenModel],
    operations: ["images/generations"],
    ...options,
  });
}
