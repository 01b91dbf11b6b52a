import { runtime } from "../runtime/this-runtime.js";

/** A Lua script, and the digest by which a server that has seen it knows it. */
export interface Script {
  readonly text: string;
  readonly sha1: string;
  /** Its texts are returned as bytes, where the client can read them so. Default: `false`. */
  readonly returnsBytes?: boolean;
}

/** Joins the parts to one script. Each part sees the local variables of those before it. */
export function makeScript(...parts: readonly string[]): Script {
  const text = parts.map((part) => part.trim()).join("\n\n");
  return { text, sha1: runtime.sha1(text, "hex") };
}
