import { useEffect, useState } from "preact/hooks";

/** What the fragment of the address names: a view, and what stands behind a slash. The first view without one. */
export interface View<Id extends string> {
  readonly id: Id;
  readonly rest: string;
}

/** The address of a view. In full: a link that is a fragment alone would be taken for one that skips to a part of the page. */
export function linkTo(view: string): string {
  return new URL(`#${view}`, location.href).href;
}

/** The view of a page that the address names. */
export function useView<Id extends string>(ids: readonly [Id, ...Id[]]): View<Id> {
  const [fragment, setFragment] = useState(location.hash);
  useEffect(() => {
    const change = () => setFragment(location.hash);
    window.addEventListener("hashchange", change);
    // It may have changed since the first rendering.
    change();
    return () => window.removeEventListener("hashchange", change);
  }, []);
  const [name = "", ...rest] = fragment.slice(1).split("/");
  const id = ids.find((one) => one === name) ?? ids[0];
  return { id, rest: decoded(rest.join("/")) };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return "";
  }
}
