/** Writes `src/wire/json-scan-module.ts` anew: `npm run wasm:update`. */
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { scanModuleSource } from "./scan-module-source.js";

writeFileSync(
  fileURLToPath(new URL("../../../../../src/wire/json-scan-module.ts", import.meta.url)),
  scanModuleSource(),
);
