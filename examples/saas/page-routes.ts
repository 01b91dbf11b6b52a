import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import { Router } from "express";

const fileHere = (name: string) => fileURLToPath(new URL(`page/${name}`, import.meta.url));

/** The page, and its script: bundled once, when the app starts. */
export async function pageRoutes(): Promise<Router> {
  const { outputFiles } = await build({
    entryPoints: [fileHere("page.tsx")],
    bundle: true,
    minify: true,
    write: false,
    jsx: "automatic",
    target: "es2022",
    format: "esm",
    define: { "process.env.NODE_ENV": '"production"' },
  });
  const script = outputFiles[0]?.text ?? "";
  return Router()
    .get("/", (_req, res) => res.sendFile(fileHere("index.html")))
    .get("/page.js", (_req, res) => void res.type("js").send(script));
}
