import type { Triple } from "./triple.ts";

const ts = `export const a = 1;\nexport const b = 2;\n`;

export const form: readonly Triple[] = [
  { name: "ours has CRLF, theirs adds a line with LF", path: "x.ts", verdict: "either",
    base: ts, ours: ts.replaceAll("\n", "\r\n"), theirs: [["", `export const c = 3;\n`]], holds: ["m.c === 3 && m.a === 1"], once: ["export const c = 3;\r\n"] },
  { name: "all three have CRLF and both append", path: "x.ts", verdict: "merge",
    base: ts.replaceAll("\n", "\r\n"), ours: [["", `export const c = 3;\r\n`]], theirs: [["", `export const d = 4;\r\n`]], holds: ["m.c === 3 && m.d === 4"], once: ["c = 3;\r\n", "d = 4;\r\n"] },
  { name: "no final newline and both append a function", path: "x.ts", verdict: "merge",
    base: `export const a = 1;`, ours: [["", `\n\nexport function b() {\n  return 2;\n}`]], theirs: [["", `\n\nexport function c() {\n  return 3;\n}`]], holds: ["m.b() === 2 && m.c() === 3"] },
  { name: "ours adds the final newline, theirs edits the last line", path: "x.ts", verdict: "merge",
    base: `export const a = 1;\nexport const b = 2;`, ours: `export const a = 1;\nexport const b = 2;\n`, theirs: [[`b = 2`, `b = 3`]], holds: ["m.b === 3"] },
  { name: "a byte order mark stays one", path: "x.ts", verdict: "either",
    base: `\ufeffexport const a = 1;\n`, ours: [["", `export const b = 2;\n`]], theirs: [["", `export const c = 3;\n`]], holds: ["m.b === 2 && m.c === 3"], once: ["\ufeff"] },
  { name: "tabs in code stay tabs", path: "x.ts", verdict: "merge",
    base: `export class K {\n\ta() {\n\t\treturn 1;\n\t}\n}\n`, ours: [[`\t\treturn 1;\n\t}\n`, `\t\treturn 1;\n\t}\n\n\tb() {\n\t\treturn 2;\n\t}\n`]], theirs: [[`\t\treturn 1;\n\t}\n`, `\t\treturn 1;\n\t}\n\n\tc() {\n\t\treturn 3;\n\t}\n`]], holds: ["new m.K().b() === 2 && new m.K().c() === 3"], never: ["  "] },
  { name: "a shebang and both append", path: "x.js", verdict: "merge",
    base: `#!/usr/bin/env node\nexport const a = 1;\n`, ours: [["", `export const b = 2;\n`]], theirs: [["", `export const c = 3;\n`]], holds: ["m.b === 2 && m.c === 3"], order: ["#!/usr/bin/env node", "a = 1"] },
  { name: "one empties the file, the other edits it", path: "x.ts", verdict: "refuse", base: ts, ours: "", theirs: [[`a = 1`, `a = 5`]] },
  { name: "both create the file with different content", path: "x.ts", verdict: "either", base: "", ours: `export const a = 1;\n`, theirs: `export const b = 2;\n`, holds: ["m.a === 1 && m.b === 2"] },
  { name: "both create the file with the same declarations differently", path: "x.ts", verdict: "refuse", base: "", ours: `export const a = 1;\n`, theirs: `export const a = 2;\n` },
  { name: "both create a package file", path: "package.json", verdict: "either", base: "", ours: `{\n  "name": "a"\n}\n`, theirs: `{\n  "private": true\n}\n`, says: { name: "a", private: true } },
  { name: "one side has a syntax error of its own", path: "x.ts", verdict: "refuse", base: ts, ours: [[`a = 1;`, `a = (1;`]], theirs: [[`a = 1;`, `a = 1; export const c = 3;`]] },
  { name: "ours already holds conflict markers", path: "x.ts", verdict: "refuse", base: ts, ours: [[`export const a = 1;\n`, `<<<<<<< ours\nexport const a = 1;\n=======\nexport const a = 3;\n>>>>>>> theirs\n`]], theirs: [[`a = 1`, `a = 4`]] },
  { name: "a markdown file with markers on one side", path: "x.md", verdict: "refuse", base: `# A\n\nText.\n`, ours: `# A\n\n<<<<<<< x\nText.\n=======\nMore.\n>>>>>>> y\n`, theirs: `# A\n\nText.\n\n## B\n\nb\n` },
  { name: "trailing white space goes on one side, the other edits", path: "x.py", verdict: "merge", base: `a = 1  \nb = 2  \n`, ours: `a = 1\nb = 2\n`, theirs: [[`b = 2  `, `b = 3  `]], holds: ["a == 1 and b == 3"] },
  { name: "indentation in a template literal is content", path: "x.ts", verdict: "refuse", base: "export const t = `\n  a\n`;\n", ours: [["  a", "    a"]], theirs: [["  a", "  b"]] },
  { name: "white space inside a string is content", path: "x.ts", verdict: "refuse", base: `export const s = "a b";\n`, ours: [[`"a b"`, `"a  b"`]], theirs: [[`"a b"`, `"a b c"`]] },
  { name: "markdown hard breaks against an edit of the same line", path: "x.md", verdict: "either", base: `one\ntwo\n`, ours: `one  \ntwo\n`, theirs: `ONE\ntwo\n`, once: ["ONE  \n"] },
  { name: "python indentation only on one side against a line added", path: "x.py", verdict: "refuse", base: `out = []\nfor i in range(2):\n    out.append(i)\nout.append(9)\n`, ours: [[`\nout.append(9)`, `\n    out.append(9)`]], theirs: [[`\nout.append(9)`, `\nout.append(99)`]] },
  { name: "yaml indentation moves a key on one side, its value changes on the other", path: "x.yaml", verdict: "refuse", base: `a:\n  b: 1\nc: 2\n`, ours: `a:\n  b: 1\n  c: 2\n`, theirs: [[`c: 2`, `c: 3`]] },
];
