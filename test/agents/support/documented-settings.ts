import { pageOf } from "../../examples/documentation.js";

const page = "docs/agents.md";

/** The settings of Codex that the page shows, for this gateway. @param baseURL - with `/v1`. */
export function documentedConfig(baseURL: string): string {
  return blockOf("toml").replace(documentedOrigin, new URL(baseURL).origin);
}

/** The environment of Claude Code that the page shows, for this gateway. @param origin - without `/v1`. */
export function documentedEnvironment(origin: string): Record<string, string> {
  const [lines] = [...blocksOf("sh")].filter((block) => block.includes("ANTHROPIC_BASE_URL"));
  const settings = [...(lines ?? "").matchAll(/^export (\w+)=(.*)$/gm)];
  if (settings.length < 3) throw new Error(`${page} shows no settings of Claude Code.`);
  return Object.fromEntries(
    settings.map(([, name = "", value = ""]) => [name, value.replace(documentedOrigin, origin)]),
  );
}

/** Where the gateway of the page is mounted. */
const documentedOrigin = "http://localhost:3000/ai";

function blockOf(language: string): string {
  const [block, ...others] = blocksOf(language);
  if (block === undefined || others.length > 0) throw new Error(`${page} has not one block of ${language}.`);
  return block;
}

function blocksOf(language: string): string[] {
  return [...pageOf(page).matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\``, "gm"))].map(
    ([, code = ""]) => code,
  );
}
