import { Buffer } from "node:buffer";
import type { GatewayRequest, GatewayResponse } from "../../http/message.js";

/** What a document is made of. All texts are the host's or a reader's: none of it is taken for markup. */
interface PageDocument {
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

const policy = {
  "default-src": "'none'",
  "script-src": "'self'",
  "style-src": "'self'",
  "img-src": "'self' data:",
  "connect-src": "'self'",
  "base-uri": "'none'",
  "form-action": "'self'",
  "require-trusted-types-for": "'script'",
  "trusted-types": "'none'",
};

/** On every answer of a page, whatever it is: nothing but the page's own files runs, and no other site shows it. */
export function securityHeaders(frameAncestors: readonly string[] | undefined): Readonly<Record<string, string>> {
  const ancestors = frameAncestors?.length ? frameAncestors.join(" ") : "'none'";
  const directives = Object.entries({ ...policy, "frame-ancestors": ancestors });
  return {
    "content-security-policy": directives.map(([name, value]) => `${name} ${value}`).join("; "),
    ...(ancestors === "'none'" && { "x-frame-options": "DENY" }),
    "x-content-type-options": "nosniff",
    "referrer-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cache-control": "no-store",
  };
}

type AssetRequest = Pick<GatewayRequest, "header" | "hostRequest">;

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

interface Asset {
  readonly name: string;
  /** What the host's options make is too short to be compressed. */
  readonly gzip?: Uint8Array<ArrayBuffer>;
  /** Made when it is first asked for. */
  text?: Promise<string>;
}

/** The files that a page loads. Their names change with their texts, so that browsers may keep them for ever. */
export class PageAssets {
  readonly #assets: ReadonlyMap<string, Asset>;

  /**
   * @param files - by their names, compressed by gzip, in base64.
   * @param made - by the host's options.
   */
  constructor(files: Readonly<Record<string, string>>, made?: { readonly name: string; readonly text: string }) {
    const assets = Object.entries(files).map(([name, file]): Asset => ({ name, gzip: Buffer.from(file, "base64") }));
    if (made !== undefined) assets.push({ name: made.name, text: Promise.resolve(made.text) });
    this.#assets = new Map(assets.map((asset) => [asset.name, asset]));
  }

  /** @returns `undefined`: there is no such file. */
  async answer(name: string, request: AssetRequest): Promise<GatewayResponse | undefined> {
    const asset = this.#assets.get(name);
    if (asset === undefined) return undefined;
    const headers = {
      "cache-control": "public, max-age=31536000, immutable",
      "content-type": types[name.slice(name.lastIndexOf(".") + 1)] ?? "application/octet-stream",
      vary: "accept-encoding",
      etag: `"${name}"`,
    };
    if (request.header("if-none-match")?.includes(headers.etag)) return { status: 304, headers, body: null };
    const { gzip } = asset;
    if (gzip !== undefined && !isWeb(request) && acceptsGzip(request)) {
      return { status: 200, headers: { ...headers, "content-encoding": "gzip" }, body: gzip };
    }
    asset.text ??= unzip(gzip);
    return { status: 200, headers, body: await asset.text };
  }
}

/**
 * What gets a web `Response` compresses by itself, or its platform does. Next.js takes `content-encoding` off, and would
 * compress twice.
 */
function isWeb(request: AssetRequest): boolean {
  return typeof (request.hostRequest?.()?.raw as Partial<Request> | undefined)?.arrayBuffer === "function";
}

function acceptsGzip(request: AssetRequest): boolean {
  return /(?:^|,)\s*gzip\s*(?:,|$|;(?!\s*q=0(?:\.0*)?\s*(?:,|$)))/i.test(request.header("accept-encoding") ?? "");
}

/** By what every runtime has. */
function unzip(gzip: Uint8Array<ArrayBuffer> = new Uint8Array()): Promise<string> {
  return new Response(new Blob([gzip]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}
