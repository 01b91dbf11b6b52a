export type { PrometheusOptions } from "./observe/prometheus/prometheus.js";
export { prometheus } from "./observe/prometheus/prometheus.js";
export type { LabelOf } from "./observe/prometheus/series.js";
