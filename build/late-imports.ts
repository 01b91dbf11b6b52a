import { parseAst } from "rollup/parseAst";

/** What the types of Rollup's parser leave out. */
interface Node {
  readonly type?: string;
  readonly start: number;
  readonly end: number;
}

/** Where code imports when it runs. What a text says does not count. */
export function lateImports(code: string): Node[] {
  return code.includes("import(") ? importsIn(parseAst(code)) : [];
}

function importsIn(node: object): Node[] {
  if ((node as Node).type === "ImportExpression") return [node as Node];
  const children = Object.values(node).filter((child) => typeof child === "object" && child !== null);
  return children.flatMap(importsIn);
}
