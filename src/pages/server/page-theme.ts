import * as z from "zod";

/** How a page looks. Colours are hexadecimal, such as `#0b6bcb`. */
export interface PageTheme {
  /** `auto`: as the reader's system has it. Default: `auto`. */
  scheme?: "auto" | "light" | "dark" | undefined;
  /** The colour of buttons, links and bars; text on it is black or white, whichever reads better. */
  accent?: string | undefined;
  /** The same on a dark background. Default: `accent`. */
  accentDark?: string | undefined;
  /** Names of fonts, as CSS has them, such as `Inter, sans-serif`. The page loads none. */
  font?: string | undefined;
  /** The roundness of corners, in pixels, 0 to 24. Default: 10. */
  radius?: number | undefined;
}

const color = z.string().regex(/^#[0-9a-f]{6}$/i, 'must be a colour with six digits, such as "#0b6bcb"');

/** What gets into the style sheet has a strict form. */
export const themeSchema = z.strictObject({
  scheme: z.enum(["auto", "light", "dark"]).optional(),
  accent: color.optional(),
  accentDark: color.optional(),
  font: z
    .string()
    .max(200)
    .regex(/^[\w\s,-]+$/, 'must be names of fonts without quotation marks, such as "Inter, sans-serif"')
    .optional(),
  radius: z.number().min(0).max(24).optional(),
});

/** The theme as a style sheet, for after the page's own; `undefined`: nothing of it differs. */
function themeStyle({ scheme = "auto", accent, accentDark = accent, font, radius }: PageTheme): string | undefined {
  const rules = [
    ...(scheme === "auto" ? [] : [`color-scheme:${scheme}`]),
    ...(accent === undefined && accentDark === undefined ? [] : accentRules(accent, accentDark)),
    ...(font === undefined ? [] : [`--font:${font}`]),
    ...(radius === undefined ? [] : [`--radius:${radius}px`]),
  ];
  return rules.length === 0 ? undefined : `:root{${rules.join(";")}}\n`;
}

function accentRules(light = defaultAccent, dark = light): string[] {
  return [
    `--accent:light-dark(${light},${dark})`,
    `--on-accent:light-dark(${textOn(light)},${textOn(dark)})`,
    `--accent-text:light-dark(color-mix(in oklab,${light} 80%,#000),color-mix(in oklab,${dark} 70%,#fff))`,
  ];
}

const defaultAccent = "#3b5bdb";

/** Black or white, whichever has the higher contrast (WCAG 2.2, relative luminance). */
function textOn(hex: string): string {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((start) => {
    const part = Number.parseInt(hex.slice(start, start + 2), 16) / 255;
    return part <= 0.040_45 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue > 0.179 ? "#000" : "#fff";
}

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
