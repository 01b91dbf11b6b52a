/** @returns an entry of the build that is measured, such as `index` or `node`. */
export function importEntry(name) {
  return import(new URL(`dist/${name}.js`, process.env["INFERGATE_BUILD"]).href);
}
