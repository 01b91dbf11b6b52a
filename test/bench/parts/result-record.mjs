const absolute = ["cpu", "perSecond", "busy", "others", "p50", "p99", "rss", "heap", "storeCpu", "scripts"];

/** The report without its rounds, as it is kept in the repository. */
export function resultRecord({ machine, rounds, workloads, targets }) {
  const record = {
    machine,
    rounds,
    workloads: Object.fromEntries(
      Object.values(workloads).map(({ name, title, per, summary }) => [name, { title, per, variants: each(summary) }]),
    ),
    targets,
  };
  return JSON.parse(JSON.stringify(record, rounded));
}

function each(summary) {
  return Object.fromEntries(Object.entries(summary).map(([name, figures]) => [name, variantRecord(figures)]));
}

function variantRecord({ toFloor, overFloor, ...figures }) {
  const medians = Object.fromEntries(absolute.map((figure) => [figure, figures[figure]?.median]));
  const { cpu, perSecond, p99 } = toFloor;
  const { p50, rss, heap } = overFloor;
  return { ...medians, toFloor: { cpu, perSecond, p99 }, overFloor: { p50, rss, heap } };
}

function rounded(_name, value) {
  return typeof value === "number" && !Number.isInteger(value) ? Number(value.toPrecision(5)) : value;
}
