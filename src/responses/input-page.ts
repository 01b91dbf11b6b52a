import type { InputPage, KeptInput, KeptItem } from "./response-store.js";

/** Which places of a list a page has: from one, so many, one behind or before the other. */
export interface PagePlaces {
  /** Places from 0, in the order of the page. */
  readonly places: readonly number[];
  readonly hasMore: boolean;
}

/**
 * Finds a page among the items of a list. Of several items of the id in `after` the last one counts, so that whoever asks for
 * page after page comes to an end.
 * @param ids - in the order in which they were sent.
 * @returns `undefined` where no item has the id in `after`.
 */
export function pagePlaces(ids: readonly string[], { after, limit, order }: InputPage): PagePlaces | undefined {
  const step = order === "asc" ? 1 : -1;
  const first = step === 1 ? 0 : ids.length - 1;
  const found = after === undefined ? first - step : step === 1 ? ids.lastIndexOf(after) : ids.indexOf(after);
  if (after !== undefined && found < 0) return undefined;
  const left = step === 1 ? ids.length - 1 - found : found;
  const count = Math.min(limit, left);
  return { places: Array.from({ length: count }, (_, index) => found + step * (index + 1)), hasMore: left > count };
}

/** The page itself, of items that are there. */
export function inputPageOf(items: readonly KeptItem[], page: InputPage): KeptInput | undefined {
  const ids = items.map(({ id }) => id);
  const found = pagePlaces(ids, page);
  return found && { items: found.places.flatMap((place) => items[place] ?? []), hasMore: found.hasMore };
}
