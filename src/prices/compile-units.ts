import { weightedCounts } from "./compile-tokens.js";
import type { PriceParts, ReadPrice } from "./compiled-price.js";
import { type Decimal, scale } from "./micro.js";
import type { ImagePrice, Price, TokenPrices } from "./price.js";
import { type CountedUnit, type ImageCount, type UsageCounts, usageUnits } from "./usage-counts.js";

/** What each part's price is for, in the power of ten of a micro-credit: 1 credit per million is 1 micro-credit for each. */
const powers = { request: 6, images: 6, audioMinute: 6, searches: 3 } as const;

/** With a price per minute, the unit is so much finer that a millisecond is whole. */
const msPerMinute = 60_000n;

const parts = [
  "inputImage",
  "cachedInputImage",
  "inputAudio",
  "cachedInputAudio",
  "outputImage",
  "outputAudio",
] as const;
const units = ["audioMinute", "characters", "searches"] as const;

/** What a price is for beside plain tokens, by its names in the price. `undefined`: nothing. */
export function pricedUnits(price: Price): readonly CountedUnit[] | undefined {
  if (![...parts, ...units, "images" as const].some((name) => price[name] !== undefined)) return undefined;
  const termOf = (unit: CountedUnit) => (unit === "audioMs" ? "audioMinute" : unit);
  return usageUnits.filter((unit) => price[termOf(unit)] !== undefined);
}

interface Reading {
  readonly prices: TokenPrices;
  readonly units: readonly CountedUnit[];
  readonly read: ReadPrice;
}

/** A price for more than plain tokens. */
export function compileUnits(price: Price, { prices, units: priced, read }: Reading): PriceParts {
  const { request, ...ofTokens } = prices;
  const ofParts = partPrices(price, prices);
  const rows = price.images ?? [];
  const decimals = [
    ...Object.entries({ ...ofTokens, ...ofParts }).map(([part, value]) => read(value, part)),
    read(price.characters ?? 0, "characters"),
    finer(read(price.searches ?? 0, "searches"), powers.searches),
    finer(read(price.audioMinute ?? 0, "audioMinute"), powers.audioMinute),
    ...rows.map(({ credits }, place) => finer(read(credits, `images[${place}].credits`), powers.images)),
  ];
  const ofCall = finer(read(request, "request"), powers.request);
  const finest = Math.max(0, ofCall.decimals, ...decimals.map((decimal) => decimal.decimals));
  const perMs = price.audioMinute === undefined ? 1n : msPerMinute;
  const base = scale(ofCall, finest) * perMs;
  const unit = 10n ** BigInt(finest) * perMs;
  const weights = decimals.map((decimal, kind) => scale(decimal, finest) * (kind === kinds.audioMs ? 1n : perMs));
  const images = new PriceRows(
    rows.map((row, place) => ({ ...kindOf(row), weight: weights[kinds.rows + place] ?? 0n })),
  );
  const imageCounts = rows.length === 0 ? () => [] : countsByRow(images, rows.length);
  const exactCost = weightedCounts({ base, unit, weights });
  const worstCost = weightedCounts({ base, unit, weights: worstWeights(weights) });
  return {
    version: (text) => [text, ...shownParts(ofParts, prices), ...shownUnits(price)].join(";"),
    free: base === 0n && weights.every((weight) => weight === 0n),
    pricesTokens: weights.slice(0, kinds.characters).some((weight) => weight !== 0n),
    units: priced,
    cost: (used) => exactCost([...partCounts(used), ...unitCounts(used), ...imageCounts(used)]),
    upperBound: (input, output, most = nothing) =>
      worstCost([...boundCounts(input, output, most), ...unitCounts(most), ...imageCounts(most)]),
  };
}

const nothing: UsageCounts = { input: 0, cachedInput: 0, output: 0, reasoning: 0 };

/** The places of what is counted: plain tokens, other tokens, units, and the rows of images. */
const kinds = {
  ...{ input: 0, cachedInput: 1, cacheWrite: 2, cacheWrite1h: 3, output: 4, reasoning: 5 },
  ...{ inputImage: 6, cachedInputImage: 7, inputAudio: 8, cachedInputAudio: 9, outputImage: 10, outputAudio: 11 },
  ...{ characters: 12, searches: 13, audioMs: 14, rows: 15 },
} as const;

function partPrices(price: Price, { input, cachedInput, output }: TokenPrices): Record<(typeof parts)[number], number> {
  const { inputImage = input, inputAudio = input, outputImage = output, outputAudio = output } = price;
  const { cachedInputImage = price.cachedInput === undefined ? inputImage : cachedInput } = price;
  const { cachedInputAudio = price.cachedInput === undefined ? inputAudio : cachedInput } = price;
  return { inputImage, cachedInputImage, inputAudio, cachedInputAudio, outputImage, outputAudio };
}

/** Tokens by kind. No token is in two of them. */
function partCounts(used: UsageCounts): number[] {
  const { input, output } = used;
  const image = Math.min(used.inputImage ?? 0, input);
  const audio = Math.min(used.inputAudio ?? 0, input - image);
  const text = input - image - audio;
  const cached = Math.min(used.cachedInput, input);
  const namedImage = Math.min(used.cachedInputImage ?? 0, cached, image);
  const namedAudio = Math.min(used.cachedInputAudio ?? 0, cached - namedImage, audio);
  // What is not said to be of images or audio is of the text, as far as there is so much.
  const cachedText = Math.min(cached - namedImage - namedAudio, text);
  const cachedImage = Math.min(cached - cachedText - namedAudio, image);
  const cachedAudio = cached - cachedText - cachedImage;
  const written = Math.min(used.cacheWrite ?? 0, text - cachedText);
  const forHour = Math.min(used.cacheWrite1h ?? 0, written);
  const outputImage = Math.min(used.outputImage ?? 0, output);
  const outputAudio = Math.min(used.outputAudio ?? 0, output - outputImage);
  const reasoning = Math.min(used.reasoning, output - outputImage - outputAudio);
  const answered = output - outputImage - outputAudio - reasoning;
  return [
    ...[text - cachedText - written, cachedText, written - forHour, forHour, answered, reasoning],
    ...[image - cachedImage, cachedImage, audio - cachedAudio, cachedAudio, outputImage, outputAudio],
  ];
}

/** What a token of an image or of audio costs more than any of a text is added for as many as there may be. */
function boundCounts(input: number, output: number, most: UsageCounts): number[] {
  const { inputImage = 0, inputAudio = 0, outputImage = 0, outputAudio = 0 } = most;
  return [
    ...[input, 0, 0, 0, output, 0],
    ...[Math.min(inputImage, input), 0, Math.min(inputAudio, input), 0],
    ...[Math.min(outputImage, output), Math.min(outputAudio, output)],
  ];
}

function worstWeights(weights: readonly bigint[]): bigint[] {
  const dearest = (...names: readonly (keyof typeof kinds)[]) =>
    names.map((name) => weights[kinds[name]] ?? 0n).reduce(larger, 0n);
  const input = dearest("input", "cachedInput", "cacheWrite", "cacheWrite1h");
  const output = dearest("output", "reasoning");
  const worst = [...weights];
  worst[kinds.input] = input;
  worst[kinds.output] = output;
  worst[kinds.inputImage] = larger(dearest("inputImage", "cachedInputImage") - input, 0n);
  worst[kinds.inputAudio] = larger(dearest("inputAudio", "cachedInputAudio") - input, 0n);
  worst[kinds.outputImage] = larger(dearest("outputImage") - output, 0n);
  worst[kinds.outputAudio] = larger(dearest("outputAudio") - output, 0n);
  return worst;
}

function unitCounts({ characters = 0, searches = 0, audioMs = 0 }: UsageCounts): number[] {
  return [characters, searches, audioMs];
}

function countsByRow(rows: PriceRows, length: number): (used: UsageCounts) => number[] {
  return ({ images = [] }) => {
    const counts = new Array<number>(length).fill(0);
    for (const image of images) {
      const place = rows.placeFor(image);
      counts[place] = (counts[place] ?? 0) + image.count;
    }
    return counts;
  };
}

function kindOf({ quality, size }: ImagePrice) {
  return { quality, size };
}

/** Those that differ from what a text costs. */
function shownParts(of: Readonly<Record<(typeof parts)[number], number>>, prices: TokenPrices): string[] {
  const textOf = { inputImage: "input", cachedInputImage: "cachedInput", outputImage: "output" } as const;
  const usual = { ...textOf, inputAudio: "input", cachedInputAudio: "cachedInput", outputAudio: "output" } as const;
  return parts.flatMap((name) => (of[name] === prices[usual[name]] ? [] : `${name}=${of[name]}`));
}

function shownUnits(price: Price): string[] {
  const shown = units.flatMap((name) => (price[name] === undefined ? [] : `${name}=${price[name]}`));
  if (price.images === undefined) return shown;
  const rows = price.images.map(({ quality = "*", size = "*", credits }) => `${quality}/${size}:${credits}`);
  return [...shown, `images=${rows.join(",")}`];
}

/** In units of a power of ten. */
function finer({ digits, decimals }: Decimal, power: number): Decimal {
  return decimals >= power
    ? { digits, decimals: decimals - power }
    : { digits: digits * 10n ** BigInt(power - decimals), decimals: 0 };
}

function larger(left: bigint, right: bigint): bigint {
  return left > right ? left : right;
}

/** What an image is charged by. */
interface PriceRow {
  readonly quality: string | undefined;
  readonly size: string | undefined;
  /** What it costs, in any unit. */
  readonly weight: bigint;
}

/** Stands for every quality and size that no row names. */
const other = Symbol("other");
type Kind = string | typeof other;

/** The rows of a model's images. */
export class PriceRows {
  readonly #rows: readonly PriceRow[];
  readonly #qualities: readonly Kind[];
  readonly #sizes: readonly Kind[];
  readonly #places = new Map<string, number>();

  /** @param rows - one at least. */
  constructor(rows: readonly PriceRow[]) {
    this.#rows = rows.map((row) => ({ ...row, quality: folded(row.quality), size: folded(row.size) }));
    this.#qualities = [...new Set(this.#rows.map(({ quality }) => quality ?? other)), other];
    this.#sizes = [...new Set(this.#rows.map(({ size }) => size ?? other)), other];
  }

  /** The place of the row for such images: the dearest of those that may be for them, where it is not known what they are. */
  placeFor(image: ImageCount): number {
    const [quality, size] = [folded(image.quality), folded(image.size)];
    // What a client names ends here: only what rows name is kept.
    const named = (name: string | undefined, known: readonly Kind[]) =>
      name === undefined ? "?" : known.includes(name) ? `=${name}` : "";
    const key = `${named(quality, this.#qualities)}/${named(size, this.#sizes)}`;
    const known = this.#places.get(key);
    if (known !== undefined) return known;
    const qualities = quality === undefined ? this.#qualities : [quality];
    const sizes = size === undefined ? this.#sizes : [size];
    const place = this.#dearest(qualities.flatMap((each) => sizes.map((of) => this.#rowOf(each, of))));
    this.#places.set(key, place);
    return place;
  }

  #rowOf(quality: Kind, size: Kind): number {
    const find = (ofQuality: Kind | undefined, ofSize: Kind | undefined) =>
      this.#rows.findIndex((row) => row.quality === ofQuality && row.size === ofSize);
    const places = [find(quality, size), find(quality, undefined), find(undefined, size), find(undefined, undefined)];
    return places.find((place) => place !== -1) ?? this.#dearest([...this.#rows.keys()]);
  }

  #dearest(places: readonly number[]): number {
    const weightOf = (place: number) => this.#rows[place]?.weight ?? 0n;
    return places.reduce((one, place) => (weightOf(place) > weightOf(one) ? place : one));
  }
}

/** Servers that take `HD` for `hd` make the same image of it. */
function folded(name: string | undefined): string | undefined {
  return name?.toLowerCase();
}
