import { type PageTheme, themeStyle } from "./page-theme.js";

/** A host's theme as a file of the page's. */
export class ThemeSheet {
  readonly name: string;
  readonly text: string;

  private constructor(text: string) {
    this.text = text;
    this.name = `theme-${hashOf(text)}.css`;
  }

  /** @returns `undefined`: the theme is the page's own. */
  static of(theme: PageTheme): ThemeSheet | undefined {
    const text = themeStyle(theme);
    return text === undefined ? undefined : new ThemeSheet(text);
  }
}

/** FNV-1a, twice: it tells the few themes of a host apart, and defends nothing. */
function hashOf(text: string): string {
  return [0x811c9dc5, 0x01000193].map((seed) => fnv(text, seed).toString(36).padStart(7, "0")).join("");
}

function fnv(text: string, seed: number): number {
  let hash = seed;
  for (let index = 0; index < text.length; index++) hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  return hash >>> 0;
}
