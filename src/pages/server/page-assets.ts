import { Buffer } from "node:buffer";
import type { GatewayRequest, GatewayResponse } from "../../http/message.js";

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
