import type { PageTexts } from "../../server/page-texts.js";

/** What the server writes into the document of each page. */
export interface PageSettings {
  readonly title: string;
  readonly logo?: { readonly src: string; readonly href?: string };
  readonly signInUrl?: string;
  readonly locale?: string;
  readonly texts: PageTexts;
}

/** What the server has written into the document for its script. */
export function readSettings<Settings extends PageSettings = PageSettings>(): Settings {
  return JSON.parse(document.getElementById("settings")?.textContent ?? "{}");
}
