/** Writes `layers.ts` into `biome.json` and `docs/architecture.md`: `npm run layers:update`. */
import { readFileSync, writeFileSync } from "node:fs";
import { layerTable } from "./architecture.js";
import { layerRules } from "./layer-rules.js";

const file = new URL("../../biome.json", import.meta.url);
const config = JSON.parse(readFileSync(file, "utf8"));
const others = config.overrides.filter((override: object) => !JSON.stringify(override).includes("noRestrictedImports"));
writeFileSync(file, JSON.stringify({ ...config, overrides: [...others, ...layerRules()] }, null, 2));

const page = new URL("../../docs/architecture.md", import.meta.url);
const text = readFileSync(page, "utf8");
const between = /(?<=<!-- layers -->\n)[\s\S]*(?=<!-- \/layers -->)/;
writeFileSync(
  page,
  text.replace(between, () => `\n${layerTable()}\n\n`),
);
