import javascript from "@vscode/tree-sitter-wasm/wasm/tree-sitter-javascript.wasm" with { type: "file" };
import python from "@vscode/tree-sitter-wasm/wasm/tree-sitter-python.wasm" with { type: "file" };
import tsx from "@vscode/tree-sitter-wasm/wasm/tree-sitter-tsx.wasm" with { type: "file" };
import typescript from "@vscode/tree-sitter-wasm/wasm/tree-sitter-typescript.wasm" with { type: "file" };
import { Language as Grammar, Parser, type Tree, type TreeCursor } from "web-tree-sitter";
import engine from "web-tree-sitter/web-tree-sitter.wasm" with { type: "file" };
import type { SyntaxNode } from "../code/syntax.ts";
import type { Language } from "../file-format.ts";

const files: Readonly<Record<Language, string>> = { javascript, python, tsx, typescript };

let started: Promise<void> | undefined;
const loaded = new Map<Language, Promise<Grammar>>();

/** Parses one text. The engine starts once for the process; a grammar is read when its language is first met. */
export async function parseText(language: Language, text: string): Promise<SyntaxNode | undefined> {
  started ??= startEngine();
  await started;
  const parser = new Parser();
  try {
    parser.setLanguage(await grammarOf(language));
    const tree = parser.parse(text);
    if (tree === null) return undefined;
    try {
      return plainTree(tree);
    } finally {
      tree.delete();
    }
  } finally {
    parser.delete();
  }
}

async function startEngine(): Promise<void> {
  const wasmBinary = await Bun.file(engine).bytes();
  await Parser.init({ wasmBinary });
}

function grammarOf(language: Language): Promise<Grammar> {
  const known = loaded.get(language);
  if (known !== undefined) return known;
  const loading = Bun.file(files[language])
    .bytes()
    .then((bytes) => Grammar.load(bytes));
  loaded.set(language, loading);
  return loading;
}

/** Real code is never as deep as this, and each level is looked through again by the levels around it. */
const deepest = 200;

/** The tree as plain data; undefined when it is too deep. A cursor knows the field of a child without counting the others. */
function plainTree(tree: Tree): SyntaxNode | undefined {
  const cursor = tree.walk();
  try {
    return plain(cursor, 0);
  } finally {
    cursor.delete();
  }
}

function plain(cursor: TreeCursor, depth: number): SyntaxNode | undefined {
  if (depth > deepest) return undefined;
  const node = cursor.currentNode;
  const field = cursor.currentFieldName;
  const children: SyntaxNode[] = [];
  for (let more = cursor.gotoFirstChild(); more; more = cursor.gotoNextSibling()) {
    const child = plain(cursor, depth + 1);
    if (child === undefined) return undefined;
    children.push(child);
  }
  if (children.length > 0) cursor.gotoParent();
  return {
    type: node.type,
    start: node.startIndex,
    end: node.endIndex,
    named: node.isNamed,
    ...(field === null ? {} : { field }),
    children,
    hasError: node.hasError,
  };
}
