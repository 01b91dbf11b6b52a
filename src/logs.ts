export type { Logger, LogsOptions } from "./observe/logs.js";
export { logs } from "./observe/logs.js";
