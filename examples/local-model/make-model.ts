import { readFile, writeFile } from "node:fs/promises";
import { letterModel } from "./letter-model.js";

const source = new URL("../../README.md", import.meta.url);
const target = new URL("model.gguf", import.meta.url);

await writeFile(target, letterModel(await readFile(source, "utf8")));
console.log(`${target.pathname} is a model that writes as the README does, letter by letter.`);
