import { join } from "node:path";
import ts from "typescript";

/** What the types of a package say: read by the compiler, so that a new version shows what is new. */
export interface SdkTypes {
  /** The members of an object, or of all objects of a union; without those that the SDK sends as headers. */
  members(name: string): string[];
  /** The values of `type` of all objects of a union. */
  types(name: string): string[];
  /** The texts of a union of them. */
  texts(name: string): string[];
  /** The members of objects of a union that are objects or lists themselves, of those whose `type` is let through. */
  objectMembers(name: string, lets: (type: string) => boolean): string[];
}

/**
 * @param imports - lines of `import type`.
 * @param aliases - a type's expression by a name of the test's.
 */
export function readSdkTypes(imports: string, aliases: Readonly<Record<string, string>>): SdkTypes {
  const file = join(import.meta.dirname, "types-of-sdks.ts");
  const text = `${imports}\n${Object.entries(aliases)
    .map(([name, type]) => `export type ${name} = ${type};`)
    .join("\n")}\n`;
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    moduleResolution: ts.ModuleResolutionKind.NodeNext,
    target: ts.ScriptTarget.ES2022,
    strict: true,
    skipLibCheck: true,
    types: [],
    noEmit: true,
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === file ? ts.createSourceFile(name, text, ts.ScriptTarget.ES2022) : getSourceFile(name, ...rest);
  const program = ts.createProgram([file], options, host);
  const source = program.getSourceFile(file);
  if (source === undefined) throw new Error("There is no such file.");
  const faults = program.getSemanticDiagnostics(source);
  if (faults.length > 0) throw new Error(faults.map(({ messageText }) => JSON.stringify(messageText)).join("\n"));
  return reader(program.getTypeChecker(), source);
}

function reader(checker: ts.TypeChecker, source: ts.SourceFile): SdkTypes {
  const found = new Map<string, ts.Type>();
  for (const statement of source.statements) {
    if (ts.isTypeAliasDeclaration(statement)) found.set(statement.name.text, checker.getTypeAtLocation(statement.name));
  }
  const partsOf = (type: ts.Type): readonly ts.Type[] => (type.isUnion() ? type.types : [type]);
  const parts = (name: string): readonly ts.Type[] => {
    const type = found.get(name);
    if (type === undefined) throw new Error(`There is no type '${name}'.`);
    return partsOf(type);
  };
  const literals = (types: readonly ts.Type[]): string[] =>
    types.flatMap((type) => (type.isStringLiteral() ? [type.value] : []));
  const unique = (names: readonly string[]): string[] => [...new Set(names)].sort();
  const isObject = (type: ts.Type): boolean =>
    partsOf(type).some((part) => (part.flags & ts.TypeFlags.Object) !== 0 && part.getCallSignatures().length === 0);
  const isHeader = (symbol: ts.Symbol): boolean =>
    ts.displayPartsToString(symbol.getDocumentationComment(checker)).startsWith("Header param");
  const typesOf = (part: ts.Type): string[] => {
    const symbol = part.getProperty("type");
    return symbol === undefined ? [] : literals(partsOf(checker.getTypeOfSymbol(symbol)));
  };
  return {
    members: (name) =>
      unique(
        parts(name).flatMap((part) =>
          part
            .getProperties()
            .filter((symbol) => !isHeader(symbol))
            .map((symbol) => symbol.name),
        ),
      ),
    texts: (name) => unique(literals(parts(name))),
    types: (name) => unique(parts(name).flatMap(typesOf)),
    objectMembers: (name, lets) =>
      unique(
        parts(name)
          .filter((part) => typesOf(part).every(lets))
          .flatMap((part) => part.getProperties().filter((symbol) => isObject(checker.getTypeOfSymbol(symbol))))
          .map((symbol) => symbol.name),
      ),
  };
}
