import { compare } from "./summary.mjs";

const kilobyte = 1024;

/** What the project has set itself, each as `{ title, limit, atLeast?, unit?, measure(rounds) }`. */
const targets = [
  ...[
    ["W1", "node", 1, "CPU per request, node"],
    ["W1", "redis", 1.35, "CPU per request, Redis"],
    ["W1", "redis-many", 1.5, "CPU per request, Redis, 10,000 accounts"],
    ["W1", "fastify", 1.05, "CPU per request, Fastify"],
    ["W2a", "node", 0.5, "CPU per stream, node"],
    ["W2b", "node", 1.05, "CPU per event, node"],
    ["W3", "node", 2.2, "CPU per request, node"],
    ["W6", "node", 0.55, "CPU per refusal, node, to W1's floor"],
  ].map(([workload, variant, limit, title]) => ratio({ workload, variant, limit, title, figure: "cpu" })),
  ratio({
    workload: "W1",
    variant: "express",
    floor: "express-floor",
    limit: 0.9,
    title: "CPU per request, Express, to Express's own floor",
    figure: "cpu",
  }),
  ratio({
    workload: "W1",
    variant: "fetch",
    floor: "node",
    limit: 2,
    title: "CPU per request, web-standard handler, to node",
    figure: "cpu",
  }),
  ...[
    ["p50", 1.1],
    ["p99", 1.4],
  ].map(([figure, limit]) =>
    ratio({ workload: "W1s", variant: "node", limit, title: `${figure} of one connection, node`, figure }),
  ),
  ratio({
    workload: "W1",
    variant: "node",
    floor: "portkey",
    limit: 0.1,
    title: "CPU per request, node, to Portkey's",
    figure: "cpu",
  }),
  ratio({
    workload: "W1",
    variant: "node",
    limit: 0.95,
    atLeast: true,
    title: "requests per second, node",
    figure: "perSecond",
  }),
  ...["W1", "W2a", "W3", "W4"].map((workload) =>
    ratio({ workload, variant: "node", limit: 1.5, title: "p99, node", figure: "p99" }),
  ),
  {
    workload: "W4",
    title: "first byte, p50 over the floor's, node",
    limit: 90,
    unit: "µs",
    measure: ({ node, floor }) => compare(node, floor, "p50", (own, other) => own - other),
  },
  {
    workload: "W5",
    title: "RSS per open stream over the floor's, node",
    limit: 8,
    unit: "KB",
    measure: ({ node, floor }) => compare(node, floor, "rss", (own, other) => (own - other) / kilobyte),
  },
].sort((left, right) => left.workload.localeCompare(right.workload));

function ratio({ workload, variant, floor = "floor", limit, atLeast, title, figure }) {
  return {
    workload,
    title,
    limit,
    atLeast,
    measure: (rounds) => compare(rounds[variant], rounds[floor], figure, (own, other) => own / other),
  };
}

/** @param workloads - the results by workload. @returns those targets that were measured, with what came out. */
export function judge(workloads) {
  return targets.flatMap(({ workload, title, limit, atLeast = false, unit = "×", measure }) => {
    const results = workloads[workload]?.results;
    if (results === undefined) return [];
    const rounds = Object.fromEntries(Object.entries(results).map(([name, result]) => [name, result.rounds]));
    const measured = measure(rounds);
    if (measured === undefined) return [];
    const met = atLeast ? measured.median >= limit : measured.median <= limit;
    return [{ workload, title, limit, atLeast, unit, measured, met }];
  });
}
