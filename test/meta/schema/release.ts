import { readFileSync, writeFileSync } from "node:fs";
import { releasedTexts } from "./released-texts.js";

/**
 * Adds to released.json what it lacks, and changes nothing that it has, unless an argument names it: see
 * docs/adding/schema.md.
 */
const renewed = process.argv.slice(2);
const path = new URL("released.json", import.meta.url);
const released: Record<string, string> = JSON.parse(readFileSync(path, "utf8"));
const kept = Object.entries(released).filter(([name]) => !renewed.includes(name));
const all = Object.entries({ ...releasedTexts(), ...Object.fromEntries(kept) });
writeFileSync(path, `${JSON.stringify(Object.fromEntries(all), null, 2)}\n`);
