import type { NextConfig } from "next";

// The folder has a lock file of its own: it, and not the repository around it, is the project.
const config: NextConfig = { turbopack: { root: import.meta.dirname } };

export default config;
