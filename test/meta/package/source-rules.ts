import { readdirSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import ts from "typescript";

const root = fileURLToPath(new URL("../../..", import.meta.url));

/** Parts of wire formats: only these folders may spell them out. */
/** A preset names the headers of its server. */
const wireFiles = ["src/providers/presets.ts"];
const wireFolders = ["protocols", "testing", "ai-sdk"];
const wireLiterals = [/chatcmpl-/, /\[DONE\]/, /event: ping/, /x-api-key/i, /anthropic-version/i];

/** What browsers run is a program of its own, and a client. */
const isBrowsers = (path: string) => path.startsWith("src/pages/app/");

/** What a file does against a rule: `src/a/b.ts:12 text`, or `src/a/b.ts text` for the whole file. */
export type Violation = string;

/** The program of `src/`, with files that exist only here. */
export class Source {
  readonly #program: ts.Program;
  readonly #files: readonly ts.SourceFile[];

  constructor(extra: Readonly<Record<string, string>> = {}) {
    const { options } = ts.convertCompilerOptionsFromJson(readConfig().compilerOptions, root);
    const extraPaths = new Map(Object.entries(extra).map(([path, text]) => [join(root, path), text]));
    const paths = readdirSync(join(root, "src"), { recursive: true, encoding: "utf8" })
      .filter((path) => path.endsWith(".ts"))
      .map((path) => join(root, "src", path));
    const host = ts.createCompilerHost(options, true);
    const { fileExists, readFile } = host;
    host.fileExists = (path) => extraPaths.has(path) || fileExists(path);
    host.readFile = (path) => extraPaths.get(path) ?? readFile(path);
    this.#program = ts.createProgram([...paths, ...extraPaths.keys()], options, host);
    this.#files = this.#program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(join(root, "src/")));
  }

  /** Literals of a wire format outside the folders of the protocols. Comments may name them. */
  wireLiterals(): Violation[] {
    return this.#each((node, path) => {
      if (wireFolders.includes(path.split("/")[1] ?? "") || wireFiles.includes(path) || isBrowsers(path))
        return undefined;
      const isText = ts.isStringLiteralLike(node) || ts.isRegularExpressionLiteral(node);
      if (!isText && !ts.isTemplateHead(node) && !ts.isTemplateMiddle(node) && !ts.isTemplateTail(node))
        return undefined;
      return wireLiterals.some((literal) => literal.test(node.text)) ? node.getText() : undefined;
    });
  }

  /** Weak collections whose keys are functions, or may be: state that hides behind a function. */
  functionKeys(): Violation[] {
    const checker = this.#program.getTypeChecker();
    return this.#each((node) => {
      if (!ts.isNewExpression(node) || !/^Weak(Map|Set)$/.test(node.expression.getText())) return undefined;
      const [key] = checker.getTypeArguments(checker.getTypeAtLocation(node) as ts.TypeReference);
      const mayBeFunction =
        key === undefined ||
        key.getCallSignatures().length > 0 ||
        checker.isTypeAssignableTo(checker.getTypeAtLocation(node.expression), key);
      return mayBeFunction ? node.getText() : undefined;
    });
  }

  /** Copies of a bag of services into another one: `{ ...services }` in `src/call` and `src/server`. */
  spreadServices(): Violation[] {
    const checker = this.#program.getTypeChecker();
    return this.#each((node, path) => {
      if (!/^src\/(call|server)\//.test(path) || !ts.isSpreadAssignment(node)) return undefined;
      const type = checker.getTypeAtLocation(node.expression);
      const names = [node.expression.getText(), type.symbol?.name, type.aliasSymbol?.name];
      return names.some((name) => /services$/i.test(name ?? "")) ? node.getText() : undefined;
    });
  }

  /** Names that two files export. An entry exports what others have. */
  sharedNames(): Violation[] {
    const owners = new Map<string, string[]>();
    for (const file of this.#files) {
      const path = relative(file);
      if (dirname(path) === "src" || isBrowsers(path)) continue;
      for (const name of new Set(exportsOf(file).map(({ name }) => name))) {
        owners.set(name, [...(owners.get(name) ?? []), path]);
      }
    }
    return [...owners]
      .filter(([, paths]) => paths.length > 1)
      .map(([name, paths]) => `${name}: ${paths.sort().join(", ")}`)
      .sort();
  }

  /**
   * Files with one function or class that are not named after it: the file's last word is in the name of no export.
   * `prompt.ts` may export `toPrompt`, `character-costs.ts` `characterCost`, and `renew-rules.ts` `describeRenew`.
   */
  fileNames(): Violation[] {
    return this.#files
      .flatMap((file) => {
        const exports = exportsOf(file);
        const name = basename(file.fileName, ".ts").replace(/-rules$/, "");
        const word = wordsOf(name).at(-1) ?? "";
        const isNamed = exports.some(
          (each) => wordsOf(each.name).includes(word) || flat(each.name).endsWith(flat(name)),
        );
        const main = exports.filter(({ isCode }) => isCode);
        return main.length === 1 && !isNamed ? [`${relative(file)} ${main[0]?.name}`] : [];
      })
      .sort();
  }

  #each(violation: (node: ts.Node, path: string) => string | undefined): Violation[] {
    return this.#files.flatMap((file) => {
      const found: Violation[] = [];
      const visit = (node: ts.Node): void => {
        const text = violation(node, relative(file));
        const { line } = file.getLineAndCharacterOfPosition(node.getStart());
        if (text !== undefined) found.push(`${relative(file)}:${line + 1} ${text}`);
        ts.forEachChild(node, visit);
      };
      visit(file);
      return found;
    });
  }
}

function readConfig(): { compilerOptions: object } {
  return JSON.parse(readFileSync(join(root, "tsconfig.json"), "utf8"));
}

function relative(file: ts.SourceFile): string {
  return file.fileName.slice(root.length);
}

/** In lower case and in the singular. */
function wordsOf(name: string): string[] {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1-$2")
    .toLowerCase()
    .split("-");
  return words.map((word) => word.replace(/ies$/, "y").replace(/s$/, ""));
}

function flat(name: string): string {
  return name.replaceAll("-", "").toLowerCase();
}

/** What a file declares and exports; what it only passes on is left out. */
function exportsOf(file: ts.SourceFile): { name: string; isCode: boolean }[] {
  return file.statements.flatMap((statement) => {
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : [];
    if (!modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) return [];
    if (ts.isVariableStatement(statement)) {
      return statement.declarationList.declarations.map(({ name }) => ({ name: name.getText(), isCode: false }));
    }
    const name = (statement as ts.DeclarationStatement).name?.text;
    const isCode = ts.isFunctionDeclaration(statement) || ts.isClassDeclaration(statement);
    return name === undefined ? [] : [{ name, isCode }];
  });
}
