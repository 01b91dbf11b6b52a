const panels = [
  { workload: "W1", title: "Whole answer, 1 KB", unit: "µs of CPU per request" },
  { workload: "W2a", title: "200 events at once", unit: "µs of CPU per stream" },
  { workload: "W2b", title: "Events that trickle", unit: "µs of CPU per event" },
  { workload: "W3", title: "200 KB request", unit: "µs of CPU per request" },
];
const bars = [
  { variant: "floor", label: "bare proxy", colour: "plain" },
  { variant: "node", label: "infergate", colour: "own" },
  { variant: "portkey", label: "Portkey", colour: "peer" },
  { variant: "llmops", label: "LLMOps", colour: "peer" },
];

const width = 760;
const panelWidth = width / 2;
const margin = 20;
const labelWidth = 74;
const valueWidth = 100;
const barHeight = 14;
const barStep = 22;
const panelHeight = 52 + bars.length * barStep;
const titleHeight = 34;
const footHeight = 26;

/** @returns an SVG of what each variant costs, each panel on its own scale; `undefined` when there is nothing to draw. */
export function drawChart({ machine, workloads }) {
  const shown = panels.filter(({ workload }) => workloads[workload]?.summary["floor"] !== undefined);
  if (shown.length === 0) return undefined;
  const rows = Math.ceil(shown.length / 2);
  const height = titleHeight + rows * panelHeight + footHeight;
  const drawn = shown.map((panel, index) => {
    const x = (index % 2) * panelWidth;
    const y = titleHeight + Math.floor(index / 2) * panelHeight;
    return drawPanel(panel, workloads[panel.workload].summary, x, y);
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="Processor time of infergate, a bare proxy and other gateways">
<style>
text { font: 12px ui-sans-serif, system-ui, sans-serif; fill: #24292f; }
.title { font-size: 15px; font-weight: 600; }
.panel { font-size: 13px; font-weight: 600; }
.quiet { fill: #57606a; }
.plain { fill: #8c959f; }
.own { fill: #1a7f37; }
.peer { fill: #bf8700; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; }
.quiet { fill: #9198a1; }
.plain { fill: #7d8590; }
.own { fill: #3fb950; }
.peer { fill: #d29922; }
}
</style>
<text class="title" x="${margin}" y="22">What a call costs the gateway’s process (shorter is better)</text>
${drawn.join("\n")}
<text class="quiet" x="${margin}" y="${height - 10}">${escapeText(footnote(machine))}</text>
</svg>
`;
}

function drawPanel({ title, unit }, summary, x, y) {
  const known = bars.filter(({ variant }) => summary[variant]?.cpu !== undefined);
  const longest = Math.max(...known.map(({ variant }) => summary[variant].cpu.median));
  const space = panelWidth - margin - labelWidth - valueWidth;
  const lines = known.map(({ variant, label, colour }, index) => {
    const { cpu, toFloor } = summary[variant];
    const top = y + 40 + index * barStep;
    const length = Math.max(1, (cpu.median / longest) * space);
    const start = x + margin + labelWidth;
    const value = `${number(cpu.median)} µs${variant === "floor" ? "" : ` · ${number(toFloor.cpu.median)}×`}`;
    return [
      `<text x="${start - 8}" y="${top + 11}" text-anchor="end">${label}</text>`,
      `<rect class="${colour}" x="${start}" y="${top}" width="${length.toFixed(1)}" height="${barHeight}" rx="2"/>`,
      `<text class="quiet" x="${(start + length + 6).toFixed(1)}" y="${top + 11}">${value}</text>`,
    ].join("\n");
  });
  return [
    `<text class="panel" x="${x + margin}" y="${y + 16}">${escapeText(title)}</text>`,
    `<text class="quiet" x="${x + margin}" y="${y + 32}">${escapeText(unit)}</text>`,
    ...lines,
  ].join("\n");
}

function footnote({ model, cores, node, date }) {
  return `${model}, ${cores} cores, Node ${node}, ${date.slice(0, 10)}. × is the ratio to the bare proxy. Each panel has its own scale.`;
}

function number(value) {
  if (value >= 1000) return Math.round(value).toLocaleString("en-US");
  if (value >= 10) return value.toFixed(0);
  return value.toFixed(value < 1 ? 2 : 1);
}

function escapeText(text) {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;");
}
