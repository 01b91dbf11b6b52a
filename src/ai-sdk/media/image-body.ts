import { Buffer } from "node:buffer";
import type { MadeImages } from "./generate-images.js";

/** The body of a response with images, one piece each: all of them at once would take long. */
export function* imageBody({ data, ...rest }: MadeImages): Generator<Uint8Array, void, undefined> {
  yield Buffer.from(`${JSON.stringify(rest).slice(0, -1)},"data":[`);
  for (const [index, image] of data.entries()) yield Buffer.from(`${index === 0 ? "" : ","}${JSON.stringify(image)}`);
  yield Buffer.from("]}");
}
