import { buildPageFiles } from "../../../build/build-page-files.js";
import type { PageFiles } from "./page-entry.js";

/** Built where this is loaded from its source. The published package has the result in place of this file. */
export const pageFiles: PageFiles = buildPageFiles();
