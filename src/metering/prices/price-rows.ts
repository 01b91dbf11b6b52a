import type { ImageCount } from "../usage-counts.js";

/** What an image is charged by. */
export interface PriceRow {
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
