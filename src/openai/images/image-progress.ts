import type { StreamProgress } from "../../metering/progress.js";
import { addUsed, type ImageCount, type UsageCounts } from "../../metering/usage-counts.js";
import { boundOfImages, type ImageBounds, kindOfImage, mostOfImages, readImageUsage } from "./image-usage.js";

/** Far more kinds than a request can ask for. Images of further ones count as of no known kind. */
const mostKinds = 32;

/** The progress of a stream of images. The stream's reader updates it; the meter reads it. */
export class ImageProgress implements StreamProgress {
  responseId: string | undefined;
  finishReason: string | undefined;
  readonly awaitsUsage = false;
  readonly reasons = false;
  /** The size of images says nothing of their tokens. */
  readonly seenOutput = 0;
  readonly #bounds: ImageBounds;
  /** By what they are called. */
  readonly #kinds = new Map<string, ImageCount>();
  #count = 0;
  #partials = 0;
  /** Of the images that came with one. */
  #reported: UsageCounts | undefined;
  #reports = 0;
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
    return !this.#isReported && (this.#bounds.tokensOf !== undefined || this.#count === 0);
  }

  get tokens(): UsageCounts {
    const reported = this.#reported;
    if (reported === undefined || !this.#isReported) return boundOfImages(this.#images, this.#bounds, this.#partials);
    return { ...reported, images: this.#images };
  }

  /** With the image that is under way: the upstream makes it all the same. */
  get left(): UsageCounts {
    if (this.isComplete) return this.tokens;
    const { quality, size } = this.#bounds.asked;
    const images = [...this.#images, { quality, size, count: 1 }];
    const bound = boundOfImages(images, this.#bounds, this.#partials);
    return this.#count === 0 ? mostOfImages(this.#bounds, 1) : bound;
  }

  get #isReported(): boolean {
    return this.#reports > 0 && this.#reports === this.#count;
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
    const reported = readImageUsage(json["usage"], this.#bounds.inputImage);
    if (reported === undefined) return;
    this.#reports++;
    this.#reported = this.#reported === undefined ? reported : addUsed(this.#reported, reported);
  }

  /** A document takes the place of the stream. */
  imagesCame(images: readonly ImageCount[], used: UsageCounts | undefined): void {
    for (const image of images) this.#add(image);
    this.#reported = used;
    this.#reports = used === undefined ? 0 : this.#count;
    this.#isDone = true;
  }

  doneCame(): void {
    this.#isDone = true;
  }
}
