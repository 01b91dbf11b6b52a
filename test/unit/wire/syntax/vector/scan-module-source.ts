import { Buffer } from "node:buffer";
import { readFileSync } from "node:fs";
import { assemble } from "./assemble.js";

const longestLine = 120;

/** The file that holds the assembled module. */
export function scanModuleSource(): string {
  const text = readFileSync(new URL("json-scan.wat", import.meta.url), "utf8");
  const encoded = Buffer.from(assemble(text)).toString("base64");
  const lines = encoded.match(new RegExp(`.{1,${longestLine}}`, "g")) ?? [];
  return `/**
 * What \`json-syntax.ts\` runs, in base64. Assembled from \`test/unit/wire/syntax/vector/json-scan.wat\`, which says what it does, by
 * \`npm run wasm:update\`.
 */
export const jsonScanModule = \`
${lines.join("\n")}
\`;
`;
}
