/** Writes the rules of `layers.ts` into `biome.json`: `npm run layers:update`. */
import { readFileSync, writeFileSync } from "node:fs";
import { layerRules } from "./layer-rules.js";

const file = new URL("../../biome.json", import.meta.url);
const config = JSON.parse(readFileSync(file, "utf8"));
const others = config.overrides.filter((override: object) => !JSON.stringify(override).includes("noRestrictedImports"));
writeFileSync(file, JSON.stringify({ ...config, overrides: [...others, ...layerRules()] }, null, 2));
