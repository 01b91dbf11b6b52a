import { layers } from "./layers.js";

/** The table of `docs/architecture.md`. */
export function layerTable(): string {
  const rows = layers.map(({ folder, question, imports }) => {
    const allowed = imports.map((name) => `\`${name}\``).join(" ");
    return `| \`${folder}/\` | ${question} | ${allowed === "" ? "–" : allowed} |`;
  });
  return ["| folder | the question it answers | may import |", "|---|---|---|", ...rows].join("\n");
}
