import type { Command } from "./dump-redis.js";

/** How keys and values look, a line each: what stands in them and how long it is, without what it is about. */
export function redisLayout(commands: readonly Command[]): string {
  const lines = commands.filter(([command]) => command !== "PEXPIRE").flatMap(linesOf);
  return `${[...new Set(lines)].toSorted().join("\n")}\n`;
}

function linesOf([command = "", key = "", ...args]: Command): string[] {
  const name = key.replace(/\{[\w-]{22}\}/, "{account}").replace(/:(ended|grant|topup|topups):.*$/, ":$1:<id>");
  if (command === "SET") return [`${name}: ${shapeOf(args[0] ?? "")}`];
  if (command === "ZADD") {
    return pairsOf(args).map(([score]) => `${name}: text by ${shapeOf(score)}`);
  }
  if (command === "XADD") {
    const fields = pairsOf(args.slice(1)).map(([field, value]) =>
      field === "kind" ? value : `${field} ${shapeOf(value)}`,
    );
    return [`${name}: ${fields.join(", ")}`];
  }
  return pairsOf(args).map(([field, value]) => `${name}: ${idShape(field)} = ${shapeOf(value)}`);
}

function pairsOf(texts: readonly string[]): (readonly [string, string])[] {
  return texts.flatMap((text, index) => (index % 2 === 0 ? [[text, texts[index + 1] ?? ""] as const] : []));
}

function idShape(field: string): string {
  if (/^\d{15}/.test(field)) return field.replaceAll(/\d+/g, "<n>");
  return field.startsWith("\u0001") ? "\\1<id>" : "<id>";
}

function shapeOf(text: string): string {
  if (text === "") return "nothing";
  if (/^("|\[|true$|false$)/.test(text)) return "JSON";
  if (/^\{.*\}$/.test(text)) {
    const json = JSON.parse(Buffer.from(text, "latin1").toString("utf8"));
    return `JSON of ${Object.keys(json).toSorted().join(", ")}`;
  }
  if (/^-?\d+$/.test(text)) return "<n>";
  if (![...text].some((character) => character < " ")) return "text";
  // Packed numbers have no names but by chance.
  const names = [...new Set(text.match(/[a-zA-Z]{4,}/g))].toSorted();
  return names.length > 2 ? `packed ${names.join(", ")}` : text.length % 8 === 0 ? `${text.length} bytes` : "text";
}
