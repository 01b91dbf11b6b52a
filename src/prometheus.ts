export type { LabelOf } from "./prometheus/bounded-labels.js";
export type { PrometheusOptions } from "./prometheus/prometheus.js";
export { prometheus } from "./prometheus/prometheus.js";
