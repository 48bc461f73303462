import { useEffect } from "react";
import type { DiffFile } from "../api/types.ts";
import { createStore, useStore } from "../state/store.ts";
import type { Side } from "./diff-rows.ts";

export type ColorKind = "keyword" | "string" | "number" | "function" | "type" | "comment";
export type ColorRange = readonly [from: number, to: number, kind: ColorKind];
/** The colours of one line, which is named by its side and number: `R42`. */
export type LineColors = readonly [line: string, ranges: readonly ColorRange[]];

export interface ColorRequest {
  readonly id: string;
  readonly language: string;
  readonly parts: readonly { readonly side: Side; readonly start: number; readonly text: string }[];
}
export interface ColorReply {
  readonly id: string;
  readonly lines: readonly LineColors[];
}

type FileColors = ReadonlyMap<string, readonly ColorRange[]>;

/** A longer file stays as it is: its colours would cost more than they tell. */
const mostLines = 3_000;
/** How long a file must stay on the page before it is coloured. */
const restMs = 150;
/** Files whose colours are kept. */
const mostFiles = 60;

const known = createStore<ReadonlyMap<string, FileColors>>(new Map());
const asked = new Set<string>();
let worker: Worker | undefined;

const idOf = ({ path, newBlob, oldBlob, hunks }: DiffFile): string =>
  `${path} ${oldBlob} ${newBlob} ${hunks.length} ${hunks[0]?.lines.length ?? 0}`;

/** The colours of these files, as far as they are known; those that are missing are asked for. Text comes first. */
export function useColors(files: readonly DiffFile[]): (file: DiffFile) => FileColors | undefined {
  const colors = useStore(known);
  useEffect(() => {
    // Files that are only scrolled past need no colours.
    const timer = setTimeout(() => {
      for (const file of files) ask(file);
    }, restMs);
    return () => clearTimeout(timer);
  }, [files]);
  return (file) => colors.get(idOf(file));
}

function ask(file: DiffFile): void {
  const id = idOf(file);
  const language = languageOf(file.path);
  const lines = file.hunks.reduce((sum, hunk) => sum + hunk.lines.length, 0);
  if (language === undefined || lines === 0 || lines > mostLines || asked.has(id)) return;
  asked.add(id);
  const request: ColorRequest = { id, language, parts: file.hunks.flatMap((hunk) => partsOf(hunk)) };
  workerOf()?.postMessage(request);
}

function workerOf(): Worker | undefined {
  if (worker !== undefined) return worker;
  const paths = document.querySelector<HTMLMetaElement>("meta[name=workers]")?.content.split(" ") ?? [];
  const path = paths.find((each) => each.includes("/diff-colors.worker"));
  if (path === undefined) return undefined;
  worker = new Worker(path, { type: "module" });
  worker.addEventListener("message", ({ data }: MessageEvent<ColorReply>) => {
    known.set((before) => {
      const kept = [...before].slice(1 - mostFiles);
      for (const [id] of before) if (!kept.some(([other]) => other === id)) asked.delete(id);
      return new Map([...kept, [data.id, new Map(data.lines)]]);
    });
  });
  return worker;
}

/** Both sides of a hunk as they read without the other. */
function partsOf({ oldStart, newStart, lines }: DiffFile["hunks"][number]): ColorRequest["parts"] {
  const side = (left: string): string =>
    lines
      .filter((line) => line[0] === " " || line[0] === left)
      .map((line) => line.slice(1))
      .join("\n");
  return [
    { side: "L", start: oldStart, text: side("-") },
    { side: "R", start: newStart, text: side("+") },
  ];
}

/** Grammars by the ending of a file. */
const languages: Readonly<Record<string, string>> = {
  ts: "typescript",
  tsx: "typescript",
  mts: "typescript",
  cts: "typescript",
  js: "javascript",
  jsx: "javascript",
  mjs: "javascript",
  cjs: "javascript",
  json: "json",
  css: "css",
  scss: "scss",
  less: "less",
  html: "xml",
  xml: "xml",
  svg: "xml",
  vue: "xml",
  md: "markdown",
  yaml: "yaml",
  yml: "yaml",
  toml: "ini",
  ini: "ini",
  sh: "bash",
  bash: "bash",
  zsh: "bash",
  py: "python",
  rb: "ruby",
  go: "go",
  rs: "rust",
  java: "java",
  kt: "kotlin",
  swift: "swift",
  c: "c",
  h: "c",
  cc: "cpp",
  cpp: "cpp",
  hpp: "cpp",
  cs: "csharp",
  php: "php",
  lua: "lua",
  r: "r",
  pl: "perl",
  sql: "sql",
};

const languageOf = (path: string): string | undefined => languages[path.split(".").at(-1)?.toLowerCase() ?? ""];
