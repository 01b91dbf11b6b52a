import type { GatewayRequest, GatewayResponse } from "../../http/message.js";

type AssetRequest = Pick<GatewayRequest, "header" | "hostRequest">;

const types: Readonly<Record<string, string>> = {
  js: "text/javascript; charset=utf-8",
  css: "text/css; charset=utf-8",
};

interface Asset {
  readonly name: string;
  readonly text: string;
  /** Compressed when first asked for. */
  gzip?: Promise<Uint8Array>;
}

/** The files that a page loads. Their names change with their texts, so that browsers may keep them for ever. */
export class PageAssets {
  readonly #assets: ReadonlyMap<string, Asset>;

  constructor(texts: Readonly<Record<string, string>>) {
    this.#assets = new Map(Object.entries(texts).map(([name, text]) => [name, { name, text }]));
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
    if (isWeb(request) || !acceptsGzip(request)) return { status: 200, headers, body: asset.text };
    asset.gzip ??= gzip(asset.text);
    return { status: 200, headers: { ...headers, "content-encoding": "gzip" }, body: await asset.gzip };
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
async function gzip(text: string): Promise<Uint8Array> {
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}
