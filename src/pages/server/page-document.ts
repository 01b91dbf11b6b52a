/** What a document is made of. All texts are the host's or a reader's: none of it is taken for markup. */
export interface PageDocument {
  readonly title: string;
  /** BCP 47. */
  readonly lang: string;
  /** The paths of style sheets, of modules to load early, and of the page's own module; relative to the document. */
  readonly styles: readonly string[];
  readonly preloads: readonly string[];
  readonly script: string;
  /** The path of what the module asks the API for at once; the browser asks while the module is still on its way. */
  readonly data: string | undefined;
  readonly nonce: string | undefined;
  readonly noScript: string;
  /** What the script reads, as JSON in the document. */
  readonly settings: object;
}

export function documentText({
  title,
  lang,
  styles,
  preloads,
  script,
  data,
  nonce,
  noScript,
  settings,
}: PageDocument): string {
  const trusted = nonce === undefined ? "" : ` nonce="${escaped(nonce)}"`;
  const head = [
    ...styles.map((path) => `<link rel="stylesheet" href="${escaped(path)}">`),
    ...preloads.map((path) => `<link rel="modulepreload" href="${escaped(path)}"${trusted}>`),
    ...(data === undefined ? [] : [`<link rel="preload" href="${escaped(data)}" as="fetch" crossorigin="anonymous">`]),
    `<script type="module" src="${escaped(script)}"${trusted}></script>`,
  ].join("\n");
  return `${opening(lang, title)}
${head}
</head>
<body>
<div id="page"></div>
<noscript><p class="alone">${escaped(noScript)}</p></noscript>
<script type="application/json" id="settings">${jsonInMarkup(settings)}</script>
</body>
</html>
`;
}

/** A document of one sentence, without a script. */
export function sentenceDocument(title: string, sentence: string, styles: readonly string[]): string {
  const links = styles.map((path) => `<link rel="stylesheet" href="${escaped(path)}">`).join("\n");
  return `${opening("en", title)}
${links}
</head>
<body>
<main class="alone"><h1>${escaped(title)}</h1><p>${escaped(sentence)}</p></main>
</body>
</html>
`;
}

/** The empty icon keeps browsers from a request for one. */
function opening(lang: string, title: string): string {
  return `<!doctype html>
<html lang="${escaped(lang)}" dir="${isRightToLeft(lang) ? "rtl" : "ltr"}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">
<title>${escaped(title)}</title>
<link rel="icon" href="data:,">`;
}

function isRightToLeft(lang: string): boolean {
  return /^(?:ar|dv|fa|he|ku|ps|sd|ug|ur|yi)(?:-|$)/i.test(lang);
}

function escaped(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Nothing in it ends the element, or begins a comment in it. */
function jsonInMarkup(data: object): string {
  return JSON.stringify(data).replace(
    /[<>\u2028\u2029]/g,
    (found) => `\\u${found.charCodeAt(0).toString(16).padStart(4, "0")}`,
  );
}
