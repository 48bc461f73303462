import type { MergeCase } from "./case.ts";

const card = `interface Props {
  title: string;
}

export function Card({ title }: Props) {
  return <div>{title}</div>;
}
`;

/** Components. Their props are sets of names; their children are a sequence. */
export const jsx: readonly MergeCase[] = [
  {
    name: "both sides add a component",
    language: "tsx",
    base: card,
    ours: [["", "\nexport function A() {\n  return <a />;\n}\n"]],
    theirs: [["", "\nexport const B = () => <b />;\n"]],
    holds: ["typeof m.Card === 'function'", "m.A().tag === 'a'", "m.B().tag === 'b'"],
  },
  {
    name: "both sides add a prop to the type and to the parameter",
    language: "tsx",
    base: card,
    ours: [
      ["title: string;\n", "title: string;\n  wide?: boolean;\n"],
      ["{ title }", "{ title, wide }"],
    ],
    theirs: [
      ["title: string;\n", "title: string;\n  tone?: string;\n"],
      ["{ title }", "{ title, tone }"],
    ],
    holds: ["m.Card({ title: 'x' }).props.children === 'x'"],
    once: ["wide?: boolean", "tone?: string"],
  },
  {
    name: "both sides add a child at one place",
    language: "tsx",
    base: `export const L = () => (\n  <ul>\n    <li>a</li>\n  </ul>\n);\n`,
    ours: [["<li>a</li>\n", "<li>a</li>\n    <li>b</li>\n"]],
    theirs: [["<li>a</li>\n", "<li>a</li>\n    <li>c</li>\n"]],
  },
  {
    name: "both sides add the same attribute",
    language: "tsx",
    base: `export const L = () => (\n  <ul\n    id="x"\n    lang="en"\n    dir="ltr"\n  >\n    <li>a</li>\n  </ul>\n);\n`,
    ours: [['    id="x"\n', '    title="b"\n    id="x"\n']],
    theirs: [['    dir="ltr"\n', '    dir="ltr"\n    title="c"\n']],
  },
  {
    name: "children changed far from each other",
    language: "tsx",
    base: `export const L = () => (\n  <ul>\n    <li>a</li>\n    <li>b</li>\n    <li>c</li>\n  </ul>\n);\n`,
    ours: [["<li>a</li>", "<li>A</li>"]],
    theirs: [
      ["<li>c</li>", "<li>C</li>"],
      ["", "\nexport const x = 1;\n"],
    ],
    holds: ["m.L().props.children.map((k) => k.props.children).join('') === 'AbC'", "m.x === 1"],
  },
];
