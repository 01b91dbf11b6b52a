/** A path with what is asked for. What is empty is not. */
export function withQuery(path: string, asked: Readonly<Record<string, string | number | undefined>>): string {
  const given = Object.entries(asked).filter(([, value]) => value !== undefined && value !== "");
  const query = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString();
  return query === "" ? path : `${path}?${query}`;
}

/** The fragment of a view, with what its filters are. */
export function viewLink(view: string, filters: Readonly<Record<string, string>>): string {
  return `#${view}/${encodeURIComponent(withQuery("", filters).slice(1))}`;
}

/** What the filters of a view are. @param rest - of its fragment. */
export function filtersOf(rest: string): Readonly<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(rest));
}

/** What books a change once, made when its form opens. */
export function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(12));
  return `page_${Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("")}`;
}

export function accountLink(id: string): string {
  return `#account/${encodeURIComponent(id)}`;
}
