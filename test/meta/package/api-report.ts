/**
 * Compares the public API of the build in dist/ with the reports in test/meta/package/api, one for each entry.
 * `npm run api:update` writes them anew: do it when the API changes on purpose, and read the difference.
 */
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, join } from "node:path";
import { fileURLToPath } from "node:url";
import { CompilerState, Extractor, ExtractorConfig, ExtractorLogLevel } from "@microsoft/api-extractor";

const root = fileURLToPath(new URL("../../..", import.meta.url));
const reports = join(root, "test/meta/package/api");
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
  const configs = entries.map(extractorConfig);
  const [first, ...others] = configs;
  if (first === undefined) throw new Error("package.json exports nothing.");
  // One program for all entries.
  const compilerState = CompilerState.create(first, {
    additionalEntryPoints: others.map((config) => config.mainEntryPointFilePath),
  });
  for (const config of configs) check(report(config, compilerState), basename(config.reportFilePath));
  for (const file of readdirSync(reports)) {
    if (configs.some((config) => basename(config.reportFilePath) === file)) continue;
    if (update) rmSync(join(reports, file));
    else problem(`test/meta/package/api/${file} is the report of no entry.`);
  }
} finally {
  rmSync(temporary, { recursive: true, force: true });
}
if (problems > 0) {
  console.error("If the change is meant: npm run api:update");
  process.exitCode = 1;
}

function extractorConfig({ name, types }: { name: string; types: string }): ExtractorConfig {
  const mainEntryPointFilePath = join(root, types);
  if (!existsSync(mainEntryPointFilePath)) throw new Error(`${types} is missing: npm run build`);
  return ExtractorConfig.prepare({
    configObject: {
      projectFolder: root,
      mainEntryPointFilePath,
      newlineKind: "lf",
      compiler: {
        overrideTsconfig: {
          compilerOptions: {
            target: "ES2022",
            module: "ESNext",
            moduleResolution: "bundler",
            strict: true,
            skipLibCheck: true,
            types: ["node"],
          },
          files: [mainEntryPointFilePath],
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
        compilerMessageReporting: { default: { logLevel: ExtractorLogLevel.Error } },
        extractorMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
        tsdocMessageReporting: { default: { logLevel: ExtractorLogLevel.None } },
      },
    },
    configObjectFullPath: undefined,
    packageJsonFullPath: join(root, "package.json"),
  });
}

/** The report of what the entry's declarations export. */
function report(config: ExtractorConfig, compilerState: CompilerState): string {
  const { succeeded } = Extractor.invoke(config, {
    compilerState,
    localBuild: true,
    messageCallback: (message) => {
      if (message.logLevel === ExtractorLogLevel.Error) console.error(message.formatMessageWithLocation(root));
      message.handled = true;
    },
  });
  if (!succeeded) throw new Error(`No API report could be made of ${config.mainEntryPointFilePath}.`);
  return readFileSync(config.reportFilePath, "utf8");
}

function check(now: string, file: string): void {
  const path = join(reports, file);
  const before = existsSync(path) ? readFileSync(path, "utf8") : "";
  if (before === now) return;
  if (update) {
    mkdirSync(reports, { recursive: true });
    writeFileSync(path, now);
    return;
  }
  problem(`The public API is not what test/meta/package/api/${file} says:`);
  const gone = linesNotIn(before, now);
  const added = linesNotIn(now, before);
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
