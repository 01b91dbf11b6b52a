import type { BuildOptions, Metafile, Plugin } from "esbuild";

/** By this name, package.json chooses a runtime. */
export const runtimeName = "#runtime";

/** The entry that makes files of what is pure. Nothing is published of it. */
export const pureEntry = "pure";

/**
 * Keeps pure modules apart: those that load, themselves and by what they import, nothing but pure modules and the runtime,
 * which the package chooses among files of its own. One more entry
 * imports them all, so that esbuild never puts one into a file with a module that loads Node's or another package.
 */
export const gatherPure: Plugin = {
  name: "gather-pure",
  async setup({ initialOptions, esbuild, onResolve, onLoad }) {
    const plugins = initialOptions.plugins?.filter(({ name }) => name !== gatherPure.name) ?? [];
    const first: BuildOptions = { ...initialOptions, plugins, write: false, metafile: true };
    const { metafile } = await esbuild.build({ ...first, metafile: true });
    const lines = pureModules(metafile).map((path, index) => `import * as pure${index} from "./${path}";`);
    initialOptions.entryPoints = { ...(initialOptions.entryPoints as Record<string, string>), [pureEntry]: pureEntry };
    onResolve({ filter: new RegExp(`^${pureEntry}$`) }, () => ({ path: pureEntry, namespace: pureEntry }));
    onLoad({ filter: /^/, namespace: pureEntry }, () => ({ contents: lines.join("\n"), resolveDir: process.cwd() }));
  },
};

function pureModules({ inputs }: Metafile): string[] {
  const impure = new Set<string>();
  for (let known = -1; known < impure.size; ) {
    known = impure.size;
    for (const [path, { imports }] of Object.entries(inputs)) {
      if (imports.some((module) => isOther(module) || impure.has(module.path))) impure.add(path);
    }
  }
  return Object.keys(inputs).filter((path) => !impure.has(path));
}

/** Whether it is a module of Node or of another package. */
function isOther({ external, path }: Metafile["inputs"][string]["imports"][number]): boolean {
  return external === true && path !== runtimeName;
}
