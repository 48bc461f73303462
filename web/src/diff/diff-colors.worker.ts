import { common, createLowlight } from "lowlight";
import type { ColorKind, ColorReply, ColorRequest, LineColors } from "./colors.ts";

/** Colours code beside the page, so that a long file does not hold up scrolling. */

const lowlight = createLowlight(common);

const kinds: Readonly<Record<string, ColorKind>> = {
  "hljs-keyword": "keyword",
  "hljs-literal": "keyword",
  "hljs-selector-tag": "keyword",
  "hljs-tag": "keyword",
  "hljs-name": "keyword",
  "hljs-section": "keyword",
  "hljs-string": "string",
  "hljs-regexp": "string",
  "hljs-meta": "comment",
  "hljs-number": "number",
  "hljs-symbol": "number",
  "hljs-title": "function",
  "hljs-function": "function",
  "hljs-built_in": "type",
  "hljs-type": "type",
  "hljs-attr": "type",
  "hljs-attribute": "type",
  "hljs-comment": "comment",
};

type Node = ReturnType<typeof lowlight.highlight>["children"][number];

self.addEventListener("message", ({ data }: MessageEvent<ColorRequest>) => {
  const { id, language, parts } = data;
  const lines = lowlight.registered(language)
    ? parts.flatMap(({ side, start, text }) =>
        colorsOf(lowlight.highlight(language, text).children, (at) => `${side}${start + at}`),
      )
    : [];
  const reply: ColorReply = { id, lines };
  self.postMessage(reply);
});

/** Flattens the tree: the colours of each line, by the name of the line. */
function colorsOf(nodes: readonly Node[], nameOf: (line: number) => string): readonly LineColors[] {
  const lines: LineColors[] = [];
  let line = 0;
  let column = 0;
  let current: [number, number, ColorKind][] = [];
  const end = (): void => {
    if (current.length > 0) lines.push([nameOf(line), current]);
    current = [];
  };
  const visit = (node: Node, kind: ColorKind | undefined): void => {
    if (node.type === "element") {
      const names = node.properties.className;
      const own = Array.isArray(names) ? kinds[String(names[0])] : undefined;
      for (const child of node.children) visit(child, own ?? kind);
    } else if (node.type === "text") {
      for (const [at, part] of node.value.split("\n").entries()) {
        if (at > 0) {
          end();
          line++;
          column = 0;
        }
        if (kind !== undefined && part !== "") current.push([column, column + part.length, kind]);
        column += part.length;
      }
    }
  };
  for (const node of nodes) visit(node, undefined);
  end();
  return lines;
}
