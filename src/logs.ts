export type { Logger, LogsOptions } from "./logs/logs.js";
export { logs } from "./logs/logs.js";
