import { join } from "node:path";
import type { NextConfig } from "next";

// Its packages are those of examples/next, by a link that the test makes.
const config: NextConfig = { turbopack: { root: join(import.meta.dirname, "../../../..") } };

export default config;
