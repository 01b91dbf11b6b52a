import type { StreamProgress } from "../../prices/progress.js";
import { addUsed, type ImageCount, type UsageCounts } from "../../prices/usage-counts.js";
import type { CountedTokens } from "../shared/token-estimate.js";
import { findReport } from "../shared/usage-report.js";
import { unpricedOfImages } from "./image-response.js";
import {
  boundOfImages,
  type ImageBounds,
  type ImageReport,
  kindOfImage,
  mostOfImages,
  readImageReport,
  tokensOfImages,
} from "./image-usage.js";

/** Far more kinds than a request can ask for. Images of further ones count as of no known kind. */
const mostKinds = 32;

/** A half of what images count, of those that came with one. */
class ReportedHalf {
  #sum: UsageCounts | undefined;
  #reports = 0;

  add(half: UsageCounts | undefined, images = 1): void {
    if (half === undefined) return;
    this.#sum = this.#sum === undefined ? half : addUsed(this.#sum, half);
    this.#reports += images;
  }

  /** @returns `undefined` unless each of so many came with one. */
  ofAll(images: number): UsageCounts | undefined {
    return images > 0 && this.#reports === images ? this.#sum : undefined;
  }
}

/** The progress of a stream of images. The stream's reader updates it; the meter reads it. */
export class ImageProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly awaitsUsage = false;
  readonly reasons = false;
  /** The size of images says nothing of their tokens. */
  readonly seenOutput = 0;
  unpriced: string | undefined;
  readonly #bounds: ImageBounds;
  /** By what they are called. */
  readonly #kinds = new Map<string, ImageCount>();
  #count = 0;
  #partials = 0;
  readonly #input = new ReportedHalf();
  readonly #output = new ReportedHalf();
  #isDone = false;

  constructor(bounds: ImageBounds) {
    this.#bounds = bounds;
  }

  get isDone(): boolean {
    return this.#isDone;
  }

  get hasOutput(): boolean {
    return this.#count + this.#partials > 0;
  }

  /** Whether all images have come, or as many as there are. */
  get isComplete(): boolean {
    return this.#count >= (this.#isDone ? 1 : this.#bounds.asked.n);
  }

  get isCounted(): boolean {
    return this.isComplete && this.#isReported;
  }

  get estimated(): boolean {
    return this.#counted.estimated || (this.#count === 0 && !this.#isReported);
  }

  get tokens(): UsageCounts {
    return this.#counted.tokens;
  }

  get #counted(): CountedTokens {
    const images = this.#images;
    return tokensOfImages({ ...this.#report, images, partials: this.#partials }, this.#bounds);
  }

  get #report(): ImageReport {
    return { input: this.#input.ofAll(this.#count), output: this.#output.ofAll(this.#count) };
  }

  /** With the image that is under way: the upstream makes it all the same. */
  get chargedIfLeft(): UsageCounts {
    if (this.isComplete) return this.tokens;
    const { quality, size } = this.#bounds.asked;
    const images = [...this.#images, { quality, size, count: 1 }];
    const bound = boundOfImages(images, this.#bounds, this.#partials);
    return this.#count === 0 ? mostOfImages(this.#bounds, 1) : bound;
  }

  get #isReported(): boolean {
    const { input, output } = this.#report;
    return input !== undefined && output !== undefined;
  }

  get #images(): readonly ImageCount[] {
    return [...this.#kinds.values()];
  }

  /** Those of a kind are one entry: a server may send any number. */
  #add({ quality, size, count }: ImageCount): void {
    const known = `${quality ?? ""}/${size ?? ""}`;
    const isKept = this.#kinds.has(known) || this.#kinds.size < mostKinds;
    const kind = isKept ? { quality, size } : { quality: undefined, size: undefined };
    const key = isKept ? known : "/";
    this.#kinds.set(key, { ...kind, count: (this.#kinds.get(key)?.count ?? 0) + count });
    this.#count += count;
  }

  partialCame(): void {
    this.#partials++;
  }

  /** @param json - the event, without its long texts. */
  imageCame(json: Readonly<Record<string, unknown>>): void {
    this.#add({ ...kindOfImage(json, this.#bounds.asked), count: 1 });
    const report = readImageReport(findReport(json), this.#bounds.inputImage);
    this.#input.add(report.input);
    this.#output.add(report.output);
    this.unpriced ??= unpricedOfImages(json);
  }

  /** A document takes the place of the stream. */
  imagesCame(images: readonly ImageCount[], { input, output }: ImageReport): void {
    for (const image of images) this.#add(image);
    this.#input.add(input, this.#count);
    this.#output.add(output, this.#count);
    this.#isDone = true;
  }

  doneCame(): void {
    this.#isDone = true;
  }
}
