/**
 * Compares the public API of the build in dist/ with the reports in test/package/api, one for each entry.
 * `npm run api:update` writes them anew: do it when the API changes on purpose, and read the difference.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { Extractor, ExtractorConfig } from "@microsoft/api-extractor";

const root = fileURLToPath(new URL("../..", import.meta.url));
const reports = join(root, "test/package/api");
const update = process.argv.includes("--update");

const manifest: { exports: Record<string, { import: { types: string } } | string> } = JSON.parse(
  readFileSync(join(root, "package.json"), "utf8"),
);
const entries = Object.entries(manifest.exports).flatMap(([path, target]) =>
  typeof target === "string" ? [] : [{ name: path === "." ? "index" : path.slice(2), types: target.import.types }],
);

const temporary = mkdtempSync(join(tmpdir(), "infergate-api-"));
let problems = 0;
try {
  for (const { name, types } of entries) check(name, report(name, types));
  for (const file of readdirSync(reports)) {
    if (entries.some(({ name }) => file === `${name}.api.md`)) continue;
    if (update) rmSync(join(reports, file));
    else problem(`test/package/api/${file} is the report of no entry.`);
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
if (problems > 0) {
  console.error("If the change is meant: npm run api:update");
  process.exitCode = 1;
}

/** The report of what the entry's declarations export. */
function report(name: string, types: string): string {
  const config = ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath: join(root, types),
      newlineKind: "lf",
      compiler: {
        overrideTsconfig: {
          compilerOptions: { target: "ES2022", module: "ESNext", moduleResolution: "bundler", strict: true, types: ["node"] },
          files: [join(root, types)],
        },
      },
      apiReport: {
        enabled: true,
        reportFileName: `${name}.api.md`,
        reportFolder: temporary,
        reportTempFolder: temporary,
        includeForgottenExports: true,
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        compilerMessageReporting: { default: { logLevel: "error" } },
        extractorMessageReporting: { default: { logLevel: "none" } },
        tsdocMessageReporting: { default: { logLevel: "none" } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, "package.json"),
  });
  const { succeeded } = Extractor.invoke(config, {
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === "error") console.error(`${name}: ${message.text}`);
      message.handled = true;
    },
  });
  if (!succeeded) throw new Error(`No API report could be made of ${types}. Is the build in place?`);
  return readFileSync(join(temporary, `${name}.api.md`), "utf8");
}

function check(name: string, now: string): void {
  const path = join(reports, `${name}.api.md`);
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (before === now) return;
  if (update) {
    mkdirSync(reports, { recursive: true });
    writeFileSync(path, now);
    return;
  }
  problem(`The public API of ${name} is not what test/package/api/${name}.api.md says:`);
  const [gone, added] = [linesNotIn(before, now), linesNotIn(now, before)];
  for (const line of gone) console.error(`  - ${line}`);
  for (const line of added) console.error(`  + ${line}`);
  if (gone.length + added.length === 0) console.error("  the order of its lines differs.");
}

function linesNotIn(text: string, other: string): string[] {
  const others = new Set(other.split("\n"));
  return text.split("\n").filter((line) => !others.has(line));
}

function problem(text: string): void {
  problems += 1;
  console.error(text);
}
