import type { ModelResponse } from "../../prices/progress.js";
import { isRecord } from "../../wire/is-record.js";
import type { AttemptContext } from "../shared/exchange.js";
import { editResponse, type ReceivedResponse, ResponseEdits } from "../shared/received-response.js";
import { visibleUsage } from "../shared/usage-object.js";
import { findReport } from "../shared/usage-report.js";
import { type ImageBounds, type ImageReport, kindOfImage, readImageReport, tokensOfImages } from "./image-usage.js";

/** Images that came whole. */
export interface ImageResponse extends ModelResponse {
  readonly report: ImageReport;
}

/** What the responses to a request for images are read with. */
export interface ImageContext extends AttemptContext, Omit<ImageBounds, "promptTokens"> {}

/** Far more than a server makes of one request. An answer of more is none. */
const mostImages = 1024;

/**
 * Turns an upstream's images into the client's: nothing of them is parsed, and all stays byte for byte but usage that the
 * client must not see.
 *
 * @returns `undefined` when there is no image.
 */
export function toImageResponse(received: ReceivedResponse, context: ImageContext): ImageResponse | undefined {
  const { json } = received;
  if (!isRecord(json)) return undefined;
  const { data, usage } = json;
  // Where some are blocked, the others were made.
  const count = Array.isArray(data) && data.length <= mostImages ? data.filter(isImage).length : 0;
  if (count === 0) return undefined;
  const edits = new ResponseEdits();
  if (json["error"] === null) edits.set("error", null);
  const images = [{ ...kindOfImage(json, context.asked), count }];
  const report = readImageReport(findReport(json), context.inputImage);
  const counted = tokensOfImages({ ...report, images, partials: 0 }, context);
  const { input, output } = counted.tokens;
  const sound = visibleUsage(usage, context.dialect);
  const charged = { input_tokens: input, output_tokens: output, total_tokens: input + output };
  const visible = counted.estimated && isRecord(sound) ? { ...sound, ...charged } : sound;
  if (visible !== usage) edits.set("usage", visible === undefined ? null : JSON.stringify(visible));
  return {
    body: editResponse(received, edits),
    ...counted,
    report,
    unpriced: unpricedOfImages(json),
    responseId: undefined,
    finishReason: undefined,
  };
}

/** What a model of another price has written beside the images. */
export function unpricedOfImages({ svg_usage: usage }: Readonly<Record<string, unknown>>): string | undefined {
  return isRecord(usage) ? "svg_usage" : undefined;
}

/** Whether it holds an image: its bytes, or where they are. */
export function isImage(item: unknown): boolean {
  return isRecord(item) && (isFilled(item["b64_json"]) || isFilled(item["url"]));
}

function isFilled(value: unknown): boolean {
  return typeof value === "string" && value !== "";
}
