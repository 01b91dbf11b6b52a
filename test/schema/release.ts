import { readFileSync, writeFileSync } from "node:fs";
import { releasedTexts } from "./released-texts.js";

/** Adds to released.json what it lacks, and changes nothing that it has: see docs/adding/schema.md. */
const path = new URL("released.json", import.meta.url);
const released: Record<string, string> = JSON.parse(readFileSync(path, "utf8"));
writeFileSync(path, `${JSON.stringify({ ...releasedTexts(), ...released }, null, 2)}\n`);
