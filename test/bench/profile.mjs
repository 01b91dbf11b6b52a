import { mkdirSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { parseArgs } from "node:util";
import { profileReport } from "./parts/profile-report.mjs";
import { openRig, Session } from "./parts/session.mjs";
import { snapshotBuild } from "./parts/snapshot.mjs";
import { variants } from "./parts/variants.mjs";
import { workloads } from "./parts/workloads.mjs";

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: {
    seconds: { type: "string", default: "5" },
    "warm-up": { type: "string", default: "3" },
    top: { type: "string", default: "30" },
    interval: { type: "string", default: "200" },
  },
});
const [variantName, workloadName] = positionals;
const variant = variants.find(({ name }) => name === variantName);
const workload = workloads.find(({ name }) => name === workloadName);
if (variant === undefined || workload === undefined) {
  process.stderr.write(
    "node profile.mjs <variant> <workload> [--seconds 5] [--warm-up 3] [--top 30] [--interval 200]\n",
  );
  process.exit(1);
}

const folder = fileURLToPath(new URL("profiles/", import.meta.url));
const file = `${folder}${variant.name}-${workload.name}.cpuprofile`;
mkdirSync(folder, { recursive: true });

const rig = await openRig(workload);
const session = new Session(variant, workload, rig, {
  warmUpSeconds: Number(values["warm-up"]),
  build: snapshotBuild(),
});
try {
  await session.open();
  await session.warmUp();
  await session.profile({ seconds: Number(values.seconds), intervalUs: Number(values.interval), file });
} finally {
  await session.close();
  await rig.close();
}

const { functions, groups } = profileReport(JSON.parse(readFileSync(file, "utf8")), { top: Number(values.top) });
print(`${variant.name} ${workload.name}, self time without idling, by function`, functions);
print("by where it is", groups.slice(0, 20));
process.stdout.write(
  `The profile opens in Chrome's and VS Code's developer tools: test/bench/profiles/${variant.name}-${workload.name}.cpuprofile\n`,
);

function print(title, entries) {
  const lines = entries.map(({ label, share }) => `${(share * 100).toFixed(1).padStart(5)} %  ${label.trim()}`);
  process.stdout.write(`${title}\n${lines.join("\n")}\n\n`);
}
