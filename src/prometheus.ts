export type { LabelOf, PrometheusOptions } from "./prometheus/prometheus.js";
export { prometheus } from "./prometheus/prometheus.js";
