import { pageOf } from "../../../meta/examples/documentation.js";

const page = "docs/agents.md";

/** The settings of Codex that the page shows, for a gateway at this URL. */
export function documentedConfig(gatewayURL: string): string {
  return blockOf("toml").replace(documentedURL, gatewayURL);
}

/** The environment of Claude Code that the page shows, for a gateway at this URL. */
export function documentedEnvironment(gatewayURL: string): Record<string, string> {
  const [lines] = [...blocksOf("sh")].filter((block) => block.includes("ANTHROPIC_BASE_URL"));
  const settings = [...(lines ?? "").matchAll(/^export (\w+)=(.*)$/gm)];
  if (settings.length < 3) throw new Error(`${page} shows no settings of Claude Code.`);
  return Object.fromEntries(
    settings.map(([, name = "", value = ""]) => [name, value.replace(documentedURL, gatewayURL)]),
  );
}

/** Where the gateway of the page is mounted. */
const documentedURL = "http://localhost:3000/ai";

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
